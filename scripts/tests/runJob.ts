import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestJob } from "./groups.ts";
import { addGroup, removeGroup } from "./processGroups.ts";
import type { FileReport, JobResult, TestReport } from "./results.ts";

export type JobContext = {
  root: string;
  /** The folder for the processes' reports. */
  directory: string;
  environment: Readonly<Record<string, string>>;
  /** Options of `node --test`: name patterns and the time a test may take. */
  nodeOptions: readonly string[];
  /** Whether a name pattern may leave files without a test. */
  hasNamePattern: boolean;
  /** Receives each line at once. */
  print: (line: string) => void;
};

const RUN_FILES = fileURLToPath(new URL("runFiles.ts", import.meta.url));
const REPORTER = new URL("reportEvents.ts", import.meta.url).href;
/** Compiled modules, which every process of every run would otherwise compile again. */
const CODE_CACHE = "node_modules/.cache/tributary/code";
/** The longest part of the run takes two minutes on an idle machine. */
const JOB_MS_MAX = 600_000;
/** The runner prints one summary for all processes. */
const SUMMARY_LINE = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Runs the files of a job in their own process. */
export async function runJob(job: TestJob, context: JobContext): Promise<JobResult> {
  const startedMs = performance.now();
  const reportPath = join(context.directory, `${process.hrtime.bigint()}.jsonl`);
  const child = startProcess(job, { context, reportPath });
  addGroup(child);
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    removeGroup(child);
  }, JOB_MS_MAX);
  const [exit] = await Promise.all([
    // A service that a test has left would hold the output open.
    exitOf(child).finally(() => removeGroup(child)),
    ...printLines(child, context.print),
  ]);
  clearTimeout(timer);
  const reports = readReports(reportPath);
  rmSync(reportPath, { force: true });
  const files = reports.filter((report) => report.kind === "file");
  const end = reports.find(({ kind }) => kind === "end");
  const hasEnded = end !== undefined;
  const problems = isOverdue ? [`${job.name} took longer than ${JOB_MS_MAX / 60_000} minutes`] : [];
  problems.push(...problemsOf(job, { files, hasEnded, exit, hasNamePattern: context.hasNamePattern }));
  const cpuMs = end?.cpuMs ?? files.reduce((sum, file) => sum + file.cpuMs, 0);
  return { job, files, durationMs: performance.now() - startedMs, cpuMs, problems };
}

function startProcess(job: TestJob, { context, reportPath }: { context: JobContext; reportPath: string }) {
  const { root, environment, nodeOptions } = context;
  const reporters = [
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${REPORTER}`,
    `--test-reporter-destination=${reportPath}`,
  ];
  const files = JSON.stringify({ root, files: job.files, preload: job.preload });
  return spawn(process.execPath, [...reporters, ...nodeOptions, RUN_FILES], {
    cwd: root,
    detached: true,
    env: { NODE_COMPILE_CACHE: join(root, CODE_CACHE), ...process.env, ...environment, TRIBUTARY_TEST_FILES: files },
    // The input pipe shows the process that the runner is alive.
    stdio: ["pipe", "pipe", "pipe"],
  });
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? String(code)));
  });
}

function printLines(child: ChildProcess, print: (line: string) => void): Promise<void>[] {
  return [child.stdout, child.stderr].map(async (stream) => {
    if (stream === null) return;
    for await (const line of createInterface({ input: stream })) if (!SUMMARY_LINE.test(line)) print(line);
  });
}

function readReports(path: string): TestReport[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as TestReport] : []));
}

type Outcome = { files: readonly FileReport[]; hasEnded: boolean; exit: string; hasNamePattern: boolean };

function problemsOf(job: TestJob, { files, hasEnded, exit, hasNamePattern }: Outcome): string[] {
  const problems: string[] = [];
  for (const { file, counts, failures } of files) {
    if (failures.length > 0 && counts.fail + counts.cancelled === 0)
      problems.push(`${file} failed outside of its tests`);
    else if (counts.tests === 0 && !hasNamePattern) problems.push(`${file} has no test`);
  }
  const hasFailures = files.some(({ failures }) => failures.length > 0);
  if (!hasEnded) problems.push(`${job.name} ended early, with ${exit}`);
  else if (exit !== "0" && !(exit === "1" && hasFailures)) problems.push(`${job.name} ended with ${exit}`);
  if (hasNamePattern) return problems;
  const reported = new Set(files.map(({ file }) => file));
  const missing = job.files.filter((file) => !reported.has(file));
  const [first, ...others] = missing;
  if (first === undefined) return problems;
  return [...problems, `${first}${others.length > 0 ? ` and ${others.length} others` : ""} did not run to its end`];
}
