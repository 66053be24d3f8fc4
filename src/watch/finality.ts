import type { Finality } from "../config/config.ts";

/** A chain's block heights; -1 for a tag that the chain does not have. */
export type BlockHeights = { number: bigint; safeNumber: bigint; finalizedNumber: bigint };

/** The highest block that is final by one rule. The block itself is its first confirmation. */
export function lastFinalBlock(finality: Finality, { number, safeNumber, finalizedNumber }: BlockHeights): bigint {
  if ("confirmations" in finality) return number - BigInt(finality.confirmations) + 1n;
  return finality.tag === "safe" ? safeNumber : finalizedNumber;
}
