import process from "node:process";

/** The smallest size of a bench, with `--small`: it shows that the bench runs, and its figures mean nothing. */
export function sized(full: number, small: number): number {
  return process.argv.includes("--small") ? small : full;
}
