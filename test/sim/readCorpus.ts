import { readFileSync } from "node:fs";

/** Elements that would change what the seeds of the corpus found. */
export const YOUNGER_THAN_CORPUS: ReadonlySet<string> = new Set(["scene", "receiptMissing"]);

/** Seeds that once failed, each with its failure. Every run repeats them. */
export function readCorpus(): { seed: number; found: string }[] {
  const text = readFileSync(new URL("seeds.txt", import.meta.url), "utf8");
  return text.split("\n").flatMap((line) => {
    const [, seed, found = ""] = /^(\d+)\s*(.*)$/.exec(line) ?? [];
    return seed === undefined ? [] : [{ seed: Number(seed), found }];
  });
}

/** The seed that finds each planted bug. */
export function readMutantSeeds(): ReadonlyMap<string, number> {
  const text = readFileSync(new URL("mutantSeeds.txt", import.meta.url), "utf8");
  return new Map([...text.matchAll(/^(\d+)\s+(\S+)$/gm)].map(([, seed, name = ""]) => [name, Number(seed)]));
}
