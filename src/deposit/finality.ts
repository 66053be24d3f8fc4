import type { Finality, FinalityTier } from "../config/config.ts";
import { lastFinalBlock, type BlockHeights } from "../watch/finality.ts";

/** The heights of a chain as last read: latest, safe and finalized; -1 where unknown. */
export type ChainHead = BlockHeights & { chain: string };

/** One deposit's amount, in millionths of the payout currency, and its block. */
export type Exposure = { blockNumber: bigint; priceUnits: bigint };

/** What a reorg may still take from one intent. */
export type IntentExposure = {
  /** Its deposits on the chain. */
  exposures: readonly Exposure[];
  /** The sum of its deposits on other chains that are not final by their own chain's strictest rule. */
  elsewhereUnits: bigint;
};

/** A finality rule that applies, with its limit and the next stricter rule; neither for the last one. */
export type AppliedTier = { finality: Finality; stricter?: { limitUnits: bigint; finality: Finality } };

/**
 * Selects the finality rule for the deposits of one intent on a chain. A tier applies while the sum of the deposits
 * above the next tier's final block, with what is exposed on other chains, is within its limit. The sum decides,
 * because splitting a payment into deposits or over chains evades a limit per deposit. Undefined without tiers.
 */
export function selectTier(
  tiers: readonly FinalityTier[],
  head: ChainHead,
  { exposures, elsewhereUnits }: IntentExposure,
): AppliedTier | undefined {
  for (const [index, { finality, upToPriceUnits: limitUnits }] of tiers.entries()) {
    const next = tiers[index + 1];
    if (next === undefined || limitUnits === undefined) return { finality };
    const nextReach = lastFinalBlock(next.finality, head);
    if (sumAbove(nextReach, exposures) + elsewhereUnits <= limitUnits)
      return { finality, stricter: { limitUnits, finality: next.finality } };
  }
  return undefined;
}

/** The sum of the deposits in blocks above `block`. */
export function sumAbove(block: bigint, exposures: readonly Exposure[]): bigint {
  const above = exposures.filter((exposure) => exposure.blockNumber > block);
  return above.reduce((sum, exposure) => sum + exposure.priceUnits, 0n);
}

/** The highest block whose deposits of one intent may be counted; -1 without a rule. */
export function lastCountableBlock(tiers: readonly FinalityTier[], head: ChainHead, exposure: IntentExposure): bigint {
  const tier = selectTier(tiers, head, exposure);
  return tier === undefined ? -1n : lastFinalBlock(tier.finality, head);
}

/**
 * The lowest final block of all tiers: deposits up to it are final in every tier. -1 for a chain that was never read.
 */
export function lowestFinalBlock(tiers: readonly FinalityTier[], head: ChainHead | undefined): bigint {
  if (head === undefined) return -1n;
  const reaches = tiers.map((tier) => lastFinalBlock(tier.finality, head));
  return reaches.reduce((lowest, reach) => (reach < lowest ? reach : lowest), head.number);
}

/** The seconds that a rule requires; null when confirmations or the chain's finality tag decide. */
export function requiredSeconds(finality: Finality | undefined): number | null {
  return finality !== undefined && "seconds" in finality ? finality.seconds : null;
}

/** The confirmations that a rule requires; null when seconds or the chain's finality tag decide. */
export function requiredConfirmations(finality: Finality | undefined): number | null {
  return finality !== undefined && "confirmations" in finality ? finality.confirmations : null;
}
