/** Runs the tests: `npm test`. `-- --help` shows how to choose some of them. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { cpuTimeOfChildrenMs } from "./tests/cpuTime.ts";
import type { TestRunSetup } from "./tests/groups.ts";
import { formatSummary } from "./tests/formatSummary.ts";
import { planJobs } from "./tests/planJobs.ts";
import { endGroupsWithRunner } from "./tests/processGroups.ts";
import { totalCounts } from "./tests/results.ts";
import { runAgain } from "./tests/runAgain.ts";
import { runTests } from "./tests/runTests.ts";

const USAGE = `Usage: npm test -- [paths …] [--test-name-pattern=…] [--isolate] [--again] [--workers=3] [--durations]
                      [--summary=FILE]

  paths                 files, folders and globs; all tests but the files of test/deepFiles.ts when there is none
  --test-name-pattern   only the tests of these names; --test-skip-pattern leaves them out
  --test-timeout        milliseconds that one test may take
  --isolate             gives each file a process of its own
  --again               runs each file with a failure once more, alone, and fails only if it fails again; the summary tells its first error
  --workers             how many processes run side by side; one more than the two cores that the run is made for, since tests wait
  --durations           lists the times of every file at the end, instead of the slowest
  --summary             appends the end of the output to this file`;

const TIMEOUT_MS = "300000";

const { values, positionals } = parseOptions();
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
endGroupsWithRunner();
const patterns = ["test-name-pattern", "test-skip-pattern"] as const;
const nodeOptions = patterns.flatMap((name) => (values[name] ?? []).map((pattern) => `--${name}=${pattern}`));
const root = process.cwd();
const startedMs = performance.now();
try {
  const setup = await loadSetup();
  const jobs = planJobs(setup, { root, paths: positionals, isolatesFiles: values.isolate });
  const options = {
    root,
    workers: parseWorkers(values.workers),
    nodeOptions: [...nodeOptions, `--test-timeout=${values["test-timeout"]}`],
    hasNamePattern: nodeOptions.length > 0,
  };
  const first = await runTests(setup, jobs, options);
  const outcome = values.again
    ? await runAgain(first, (job) => runTests(setup, [job], options))
    : { results: first, overcome: [] };
  const { tests, fail, cancelled } = totalCounts(outcome.results);
  const summary = formatSummary(outcome, {
    durationMs: performance.now() - startedMs,
    sharedCpuMs: cpuTimeOfChildrenMs(),
    showsAllFiles: values.durations,
  });
  if (values.summary !== undefined) appendFileSync(values.summary, summary);
  process.exitCode = tests === 0 || fail + cancelled > 0 ? 1 : 0;
  if (tests === 0) process.stderr.write("No test ran.\n");
  process.stdout.write(summary);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function parseOptions() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        "test-name-pattern": { type: "string", multiple: true },
        "test-skip-pattern": { type: "string", multiple: true },
        "test-timeout": { type: "string", default: TIMEOUT_MS },
        durations: { type: "boolean", default: false },
        again: { type: "boolean", default: false },
        isolate: { type: "boolean", default: false },
        workers: { type: "string", default: "3" },
        summary: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    return process.exit(2);
  }
}

function parseWorkers(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new Error(`--workers must be a whole number from 1 to 99, not ${text}.`);
}

async function loadSetup(): Promise<TestRunSetup> {
  const { TEST_RUN } = (await import(pathToFileURL(join(root, "test/testGroups.ts")).href)) as {
    TEST_RUN: TestRunSetup;
  };
  return TEST_RUN;
}
