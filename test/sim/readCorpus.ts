import { readFileSync } from "node:fs";

/** Elements that would change what the seeds of the corpus found. */
export const YOUNGER_THAN_CORPUS: ReadonlySet<string> = new Set(["scene", "receiptMissing"]);

/** These take most of the corpus's time. */
const LONG_SEEDS: ReadonlySet<number> = new Set([15, 17, 19, 22, 192, 770]);

/** Seeds that once failed. Every run of the tests repeats the short ones, and the deep tests all. */
export function readCorpus({ hasLong }: { hasLong: boolean }): ReadonlySet<number> {
  const text = readFileSync(new URL("seeds.txt", import.meta.url), "utf8");
  const seeds = new Set([...text.matchAll(/^(\d+) /gm)].map(([, seed]) => Number(seed)));
  return hasLong ? seeds : seeds.difference(LONG_SEEDS);
}

/** The seed that finds each planted bug. */
export function readMutantSeeds(): ReadonlyMap<string, number> {
  const text = readFileSync(new URL("mutantSeeds.txt", import.meta.url), "utf8");
  return new Map([...text.matchAll(/^(\d+)\s+(\S+)$/gm)].map(([, seed, name = ""]) => [name, Number(seed)]));
}
