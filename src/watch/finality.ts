import type { Finality } from "../config/config.ts";

/** How far a chain is known. Numbers are block heights; a chain without a tag stays at -1 there. */
export type BlockHeights = { number: bigint; safeNumber: bigint; finalizedNumber: bigint };

/** The highest block that is final by one rule. The block itself is its first confirmation. */
export function lastFinalBlock(finality: Finality, { number, safeNumber, finalizedNumber }: BlockHeights): bigint {
  if ("confirmations" in finality) return number - BigInt(finality.confirmations) + 1n;
  return finality.tag === "safe" ? safeNumber : finalizedNumber;
}
