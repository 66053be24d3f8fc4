import type { Finality, FinalityTier } from "../config/config.ts";

/** A chain's block heights; -1 for a tag that the chain does not have. */
export type BlockHeights = {
  number: bigint;
  safeNumber: bigint;
  finalizedNumber: bigint;
  /**
   * For each rule in seconds, the highest recorded block below `number` that is as old on the chain's own clock. Absent
   * where no rule is in seconds; a rule that is left out has no such block.
   */
  agedNumbers?: AgedNumbers | undefined;
};

/** Block numbers by seconds. */
export type AgedNumbers = ReadonlyMap<number, bigint>;

/** The highest block that is final by one rule. The block itself is its first confirmation. */
export function lastFinalBlock(finality: Finality, heights: BlockHeights): bigint {
  if ("confirmations" in finality) return heights.number - BigInt(finality.confirmations) + 1n;
  if ("seconds" in finality) return heights.agedNumbers?.get(finality.seconds) ?? -1n;
  return finality.tag === "safe" ? heights.safeNumber : heights.finalizedNumber;
}

/** The rules in seconds that a block of this age meets at a head, in the form of BlockHeights. */
export function agedNumbersAt(
  blockNumber: bigint,
  { number, ageS = -1, tiers }: { number: bigint; ageS?: number | undefined; tiers: readonly FinalityTier[] },
): AgedNumbers {
  const met = listAges(tiers).filter((seconds) => number > blockNumber && ageS >= seconds);
  return new Map(met.map((seconds) => [seconds, blockNumber]));
}

/** The rules in seconds among the tiers of a chain. */
export function listAges(tiers: readonly FinalityTier[]): number[] {
  return [...new Set(tiers.flatMap(({ finality }) => ("seconds" in finality ? [finality.seconds] : [])))];
}
