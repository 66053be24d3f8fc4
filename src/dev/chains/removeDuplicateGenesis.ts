import { readFileSync, writeFileSync } from "node:fs";

/**
 * Removes duplicate genesis blocks from a state file of anvil and keeps the oldest one. Each start adds a new genesis
 * block to the loaded one, and the next load picks either of them at random.
 */
export function removeDuplicateGenesis(path: string): void {
  const state = JSON.parse(readFileSync(path, "utf8")) as {
    blocks?: { header: { number: string; timestamp: string } }[];
  };
  const first = (state.blocks ?? []).filter(({ header }) => BigInt(header.number) === 0n);
  const [oldest, ...duplicates] = first.toSorted(
    (one, other) => Number(one.header.timestamp) - Number(other.header.timestamp),
  );
  if (oldest === undefined || duplicates.length === 0) return;
  const blocks = state.blocks?.filter((block) => !duplicates.includes(block));
  writeFileSync(path, JSON.stringify({ ...state, blocks }));
}
