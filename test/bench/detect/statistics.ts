import { cpus } from "node:os";

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** `share` from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

/** Date, hardware, versions and command of a measurement. */
export function heading(versions: Readonly<Record<string, string>> = {}): string {
  const [cpu] = cpus();
  const named = Object.entries({ Node: process.versions.node, ...versions }).map(
    ([name, version]) => `${name} ${version}`,
  );
  const date = new Date().toISOString().slice(0, 10);
  const command = `npm run bench -- ${process.argv.slice(2).join(" ")}`;
  return `${date}, ${cpus().length} cores of ${cpu?.model.trim()}, ${named.join(", ")}: ${command}`;
}

/** Aligns columns; the first column is text, the others are figures. */
export function tabulate(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}
