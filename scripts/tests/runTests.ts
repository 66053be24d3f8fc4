import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestJob, TestRunSetup } from "./groups.ts";
import type { JobResult } from "./results.ts";
import { runJob, type JobContext } from "./runJob.ts";

export type RunOptions = { root: string; workers: number; nodeOptions: readonly string[]; hasNamePattern: boolean };

/** Runs the jobs in order on a few workers, and prints each job's output when it ends. */
export async function runTests(
  setup: TestRunSetup,
  jobs: readonly TestJob[],
  options: RunOptions,
): Promise<JobResult[]> {
  const directory = mkdtempSync(join(tmpdir(), "tributary-tests-"));
  try {
    // A single process starts what it needs itself, as it does without the runner.
    const environment = jobs.length > 1 ? await setup.startShared?.() : undefined;
    return await runAll(jobs, { ...options, directory, environment: environment ?? {} });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type AllOptions = RunOptions & Omit<JobContext, "print">;

async function runAll(jobs: readonly TestJob[], options: AllOptions): Promise<JobResult[]> {
  const queue = [...jobs];
  const results: JobResult[] = [];
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const lines: string[] = [];
      const print = jobs.length === 1 ? printLine : (line: string) => lines.push(line);
      const result = await runJob(job, { ...options, print });
      results.push(result);
      const seconds = (result.durationMs / 1_000).toFixed(1);
      const outcome = `== ${job.name} (${seconds} s, ${results.length} of ${jobs.length})`;
      printLine([...lines, outcome, ...result.problems.map((problem) => `✖ ${problem}`), ""].join("\n"));
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.workers, jobs.length) }, work));
  return results;
}

function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}
