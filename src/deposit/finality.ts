import type { Finality, FinalityTier } from "../config/config.ts";
import { lastFinalBlock, type BlockHeights } from "../watch/finality.ts";

/** How far a chain is known. */
export type ChainHead = BlockHeights & { chain: string };

/** Money of one intent in one block, in millionths of the currency. */
export type Exposure = { blockNumber: bigint; priceUnits: bigint };

/**
 * The rule by which deposits of one intent may be counted. A tier is enough while everything the intent has beyond the
 * next tier's reach stays within its limit: the sum decides, because a limit per deposit is evaded by splitting.
 */
export function selectFinality(
  tiers: readonly FinalityTier[],
  head: ChainHead,
  exposures: readonly Exposure[],
): Finality | undefined {
  for (const [index, tier] of tiers.entries()) {
    const next = tiers[index + 1];
    if (next === undefined || tier.upToPriceUnits === undefined) return tier.finality;
    const nextReach = lastFinalBlock(next.finality, head);
    const atRisk = exposures.filter((exposure) => exposure.blockNumber > nextReach);
    const atRiskUnits = atRisk.reduce((sum, exposure) => sum + exposure.priceUnits, 0n);
    if (atRiskUnits <= tier.upToPriceUnits) return tier.finality;
  }
  return undefined;
}

/** The highest block whose deposits of one intent may be counted; -1 where nothing says so. */
export function lastCountableBlock(
  tiers: readonly FinalityTier[],
  head: ChainHead,
  exposures: readonly Exposure[],
): bigint {
  const finality = selectFinality(tiers, head, exposures);
  return finality === undefined ? -1n : lastFinalBlock(finality, head);
}

/** Below this block nothing of an intent is exposed in any tier. -1 for a chain that was never read. */
export function lowestFinalBlock(tiers: readonly FinalityTier[], head: ChainHead | undefined): bigint {
  if (head === undefined) return -1n;
  const reaches = tiers.map((tier) => lastFinalBlock(tier.finality, head));
  return reaches.reduce((lowest, reach) => (reach < lowest ? reach : lowest), head.number);
}

/** Confirmations that a rule asks for; null where the chain's own tag decides. */
export function requiredConfirmations(finality: Finality | undefined): number | null {
  return finality !== undefined && "confirmations" in finality ? finality.confirmations : null;
}
