import type { Finality, FinalityTier } from "../config.ts";

/** How far a chain is known. Numbers are block heights; a chain without a tag stays at -1 there. */
export type ChainHead = { chain: string; number: bigint; safeNumber: bigint; finalizedNumber: bigint };

/** Money of one intent in one block, in millionths of the currency. */
export type Exposure = { blockNumber: bigint; priceUnits: bigint };

/** The highest block that is final by one rule. The block itself is its first confirmation. */
export function reachedBlock(finality: Finality, head: ChainHead): bigint {
  if ("confirmations" in finality) return head.number - BigInt(finality.confirmations) + 1n;
  return finality.tag === "safe" ? head.safeNumber : head.finalizedNumber;
}

/**
 * The highest block whose deposits of one intent may be counted. A tier is enough while everything the intent has beyond the
 * next tier's reach stays within its limit: the sum decides, because a limit per deposit is evaded by splitting.
 */
export function finalBlock(tiers: readonly FinalityTier[], head: ChainHead, exposures: readonly Exposure[]): bigint {
  let final = -1n;
  for (const [index, tier] of tiers.entries()) {
    final = reachedBlock(tier.finality, head);
    const next = tiers[index + 1];
    if (next === undefined || tier.upToPriceUnits === undefined) return final;
    const nextReach = reachedBlock(next.finality, head);
    const atRisk = exposures.filter((exposure) => exposure.blockNumber > nextReach);
    const atRiskUnits = atRisk.reduce((sum, exposure) => sum + exposure.priceUnits, 0n);
    if (atRiskUnits <= tier.upToPriceUnits) return final;
  }
  return final;
}

/** Below this block nothing of an intent is exposed in any tier. -1 for a chain that was never read. */
export function lowestReach(tiers: readonly FinalityTier[], head: ChainHead | undefined): bigint {
  if (head === undefined) return -1n;
  const reaches = tiers.map((tier) => reachedBlock(tier.finality, head));
  return reaches.reduce((lowest, reach) => (reach < lowest ? reach : lowest), head.number);
}

/** Confirmations that the first tier asks for; null where the chain's own tag decides. */
export function requiredConfirmations(tiers: readonly FinalityTier[]): number | null {
  const first = tiers[0]?.finality;
  return first !== undefined && "confirmations" in first ? first.confirmations : null;
}
