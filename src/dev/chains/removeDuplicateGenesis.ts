import { readFileSync, writeFileSync } from "node:fs";

/**
 * Takes the first blocks that are not the chain's own out of a state that anvil has written. Each start makes a new one and keeps
 * it beside the loaded one, and which of them is block 0 after the next load is left to chance.
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
