import { COUNTS, totalCounts, type FileReport, type JobResult } from "./results.ts";
import type { TestOutcome } from "./runAgain.ts";

const SLOWEST_SHOWN = 10;

/**
 * The summary of a run: failures, the time of each part, the slowest files, and the counts as node:test prints them.
 */
export function formatSummary({ results, overcome }: TestOutcome, durationMs: number): string {
  const counts = totalCounts(results);
  const lines = [
    ...formatFailures("failed", results),
    ...formatFailures("failed at first, and passed alone: find out why", overcome),
    ...formatParts(results),
    ...formatSlowest(results),
  ];
  for (const name of COUNTS) lines.push(`ℹ ${name} ${counts[name]}`);
  lines.push(`ℹ duration_ms ${durationMs.toFixed(0)}`);
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

/** Seconds of all processes by folder, so that the sum is about the duration times the workers. */
function formatParts(results: readonly JobResult[]): string[] {
  const seconds = new Map<string, number>();
  for (const { file, ms } of results.flatMap(timesOf)) {
    const part = file.split("/").slice(0, 2).join("/");
    seconds.set(part, (seconds.get(part) ?? 0) + ms / 1_000);
  }
  const rows = [...seconds].toSorted(([, one], [, other]) => other - one);
  return ["== seconds by part", ...rows.map(([part, sum]) => formatRow(sum, part)), ""];
}

function formatSlowest(results: readonly JobResult[]): string[] {
  const slowest = results
    .flatMap(timesOf)
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, SLOWEST_SHOWN);
  return ["== slowest files", ...slowest.map(({ file, ms }) => formatRow(ms / 1_000, file)), ""];
}

/** A process with one file counts from its start to its end; files that share one count their tests. */
function timesOf({ files, durationMs }: JobResult): { file: string; ms: number }[] {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return [{ file: only.file, ms: durationMs }];
  return files.map((file: FileReport) => ({ file: file.file, ms: file.durationMs }));
}

function formatRow(seconds: number, name: string): string {
  return `${seconds.toFixed(1).padStart(7)}  ${name}`;
}
