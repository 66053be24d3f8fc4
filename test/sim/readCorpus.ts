import { readFileSync } from "node:fs";

/** Seeds that once failed, each with its failure. Every run repeats them. */
export function readCorpus(): { seed: number; found: string }[] {
  const text = readFileSync(new URL("seeds.txt", import.meta.url), "utf8");
  return text.split("\n").flatMap((line) => {
    const [, seed, found = ""] = /^(\d+)\s*(.*)$/.exec(line) ?? [];
    return seed === undefined ? [] : [{ seed: Number(seed), found }];
  });
}
