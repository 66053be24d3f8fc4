import { COUNTS, totalCounts, type FileReport, type JobResult } from "./results.ts";
import type { TestOutcome } from "./runAgain.ts";

const SLOWEST_SHOWN = 10;

export type SummaryOptions = {
  durationMs: number;
  /** Processor time of what all processes share, such as a database server. */
  sharedCpuMs: number;
  /** Lists every file instead of the slowest. */
  showsAllFiles: boolean;
};

/**
 * The summary of a run: failures, the time of each part, the slowest files, and the counts as node:test prints them.
 */
export function formatSummary({ results, overcome }: TestOutcome, options: SummaryOptions): string {
  const counts = totalCounts(results);
  const lines = [
    ...formatFailures("failed", results),
    ...formatFailures("failed at first, and passed alone: find out why", overcome),
    ...formatParts(results, options.sharedCpuMs),
    ...formatSlowest(results, options.showsAllFiles),
  ];
  for (const name of COUNTS) lines.push(`ℹ ${name} ${counts[name]}`);
  lines.push(`ℹ duration_ms ${options.durationMs.toFixed(0)}`);
  return `${lines.join("\n")}\n`;
}

function formatFailures(title: string, results: readonly JobResult[]): string[] {
  const failed = results.flatMap(({ files, problems }) => [
    ...files.flatMap(({ file, failures }) =>
      failures.flatMap(({ name, error }) => [`✖ ${file}: ${name}`, error.replaceAll(/^/gmu, "    ")]),
    ),
    ...problems.map((problem) => `✖ ${problem}`),
  ]);
  return failed.length === 0 ? [] : [`== ${title}`, ...failed, ""];
}

/**
 * Processor seconds and seconds by folder. The seconds of side by side processes add up, so their sum exceeds the run's
 * duration.
 */
function formatParts(results: readonly JobResult[], sharedCpuMs: number): string[] {
  const parts = new Map<string, Times>();
  for (const { file, ms, cpuMs } of results.flatMap(timesOf)) {
    const part = file.split("/").slice(0, 2).join("/");
    const known = parts.get(part);
    parts.set(part, { ms: (known?.ms ?? 0) + ms, cpuMs: (known?.cpuMs ?? 0) + cpuMs });
  }
  const rows = [...parts].toSorted(([, one], [, other]) => other.cpuMs - one.cpuMs);
  const totalMs = results.reduce((sum, { cpuMs }) => sum + cpuMs, sharedCpuMs);
  return [
    "== processor seconds and seconds by part",
    ...rows.map(([part, times]) => formatRow(times, part)),
    formatRow({ cpuMs: sharedCpuMs }, "shared by all parts"),
    formatRow({ cpuMs: totalMs }, "together"),
    "",
  ];
}

function formatSlowest(results: readonly JobResult[], showsAllFiles: boolean): string[] {
  const slowest = results
    .flatMap(timesOf)
    .toSorted((one, other) => other.cpuMs - one.cpuMs)
    .slice(0, showsAllFiles ? undefined : SLOWEST_SHOWN);
  return [
    showsAllFiles ? "== all files" : "== slowest files",
    ...slowest.map((times) => formatRow(times, times.file)),
    "",
  ];
}

type Times = { ms: number; cpuMs: number };

/** A process with one file counts from its start to its end; files that share one count their tests. */
function timesOf({ files, durationMs, cpuMs }: JobResult): (Times & { file: string })[] {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return [{ file: only.file, ms: durationMs, cpuMs }];
  return files.map((file: FileReport) => ({ file: file.file, ms: file.durationMs, cpuMs: file.cpuMs }));
}

function formatRow({ cpuMs, ms }: { cpuMs: number; ms?: number }, name: string): string {
  const columns = [cpuMs, ms].map((each) => (each === undefined ? "" : (each / 1_000).toFixed(1)).padStart(8));
  return `${columns.join("")}  ${name}`;
}
