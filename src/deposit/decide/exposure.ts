import { toPriceUnits } from "../agreement/agreement.ts";
import { isHeldForAgreement, isReceived, type Deposit } from "../deposit.ts";
import {
  requiredConfirmations,
  requiredSeconds,
  selectTier,
  sumAbove,
  type Exposure,
  type IntentExposure,
} from "../finality.ts";
import { lastFinalBlock } from "../../watch/finality.ts";
import type { IntentFacts } from "./facts.ts";

// What reorgs of an intent's chains may still take from it, and the finality rule that follows on each chain.

/** The finality rule that applies to an intent on one chain. */
export type ChainFinality = {
  finalBlock: bigint;
  requiredConfirmations: number | null;
  requiredSeconds: number | null;
  /** The next stricter rule's final block, and what this rule allows above it; null for the last rule. */
  nextFinalBlock: bigint | null;
  limitUnits: bigint | null;
};

/** The exposure by which a chain's rule is selected. */
export function exposureOn(facts: IntentFacts, chain: string): IntentExposure {
  const exposures = exposuresByChain(facts);
  const elsewhere = [...exposures].filter(([other]) => other !== chain);
  const elsewhereUnits = elsewhere.reduce(
    // What is final by the strictest rule of its own chain exposes nothing.
    (sum, [other, onChain]) => sum + sumAbove(facts.chains.get(other)?.lowestFinalBlock ?? -1n, onChain),
    0n,
  );
  return { exposures: exposures.get(chain) ?? [], elsewhereUnits };
}

/**
 * The rule of each chain on which the intent has such deposits. Chains that were never read, or that have no rule, have
 * none.
 */
export function resolveFinality(facts: IntentFacts): ReadonlyMap<string, ChainFinality> {
  const rules = new Map<string, ChainFinality>();
  for (const chain of exposuresByChain(facts).keys()) {
    const { head, tiers = [] } = facts.chains.get(chain) ?? {};
    const tier = head && selectTier(tiers, head, exposureOn(facts, chain));
    if (!head || !tier) continue;
    const { finality, stricter } = tier;
    rules.set(chain, {
      finalBlock: lastFinalBlock(finality, head),
      requiredConfirmations: requiredConfirmations(finality),
      requiredSeconds: requiredSeconds(finality),
      nextFinalBlock: stricter ? lastFinalBlock(stricter.finality, head) : null,
      limitUnits: stricter?.limitUnits ?? null,
    });
  }
  return rules;
}

function exposuresByChain(facts: IntentFacts): ReadonlyMap<string, Exposure[]> {
  const exposing = facts.deposits.filter(({ after }) => isReceived(after) || isHeldForAgreement(after));
  const byChain = Map.groupBy(exposing, ({ after }) => after.chain);
  return new Map([...byChain].map(([chain, changes]) => [chain, changes.map(({ after }) => toExposure(after))]));
}

function toExposure(deposit: Deposit): Exposure {
  return { blockNumber: deposit.block_number, priceUnits: toPriceUnits(deposit) };
}
