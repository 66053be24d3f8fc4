import type { TestJob } from "./groups.ts";

// Reports from the processes of a run to the runner: a line of JSON for each file, and one at the end.

export const COUNTS = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"] as const;
export type Counts = Record<(typeof COUNTS)[number], number>;

/** A failed test, and the beginning of its error with the stack. */
export type Failure = { name: string; error: string };
export type FileReport = {
  kind: "file";
  file: string;
  durationMs: number;
  /**
   * Processor time of the process and its children since the previous file; the first file includes the loading of all.
   */
  cpuMs: number;
  counts: Counts;
  failures: Failure[];
};
export type TestReport = FileReport | { kind: "end"; cpuMs: number };

/** The result of one process. */
export type JobResult = {
  job: TestJob;
  files: FileReport[];
  durationMs: number;
  /** Processor time of the process and its children. */
  cpuMs: number;
  /** Why the process failed, beyond its failed tests. */
  problems: string[];
};

export function zeroCounts(): Counts {
  return { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
}

/** All tests of a run. A process or a file that failed without a failed test counts as one failure. */
export function totalCounts(results: readonly JobResult[]): Counts {
  const total = zeroCounts();
  for (const { files, problems } of results) {
    for (const { counts } of files) for (const name of COUNTS) total[name] += counts[name];
    total.fail += problems.length;
  }
  return total;
}
