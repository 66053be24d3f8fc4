import type { IntentRow } from "../../intent/store.ts";
import { convertUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import type { SingleProviderTotal } from "../agreement/agreement.ts";
import type { IntentFacts } from "./facts.ts";
import type { Holding, HoldingChange } from "../holding/dust.ts";

/** Counted dust in the form of totals that a single provider reported: it adds to the limit of its chain. */
export function dustTotals(intent: IntentRow, holdings: readonly HoldingChange[]): SingleProviderTotal[] {
  return holdings.map(({ after }) => totalOf(intent, after, after.dust_units));
}

function totalOf(intent: IntentRow, { chain }: Holding, units: bigint): SingleProviderTotal {
  return { intentId: intent.id, chain, decimals: intent.payout_decimals, units };
}

type CountContext = { intent: IntentRow; facts: Pick<IntentFacts, "chains" | "holdings" | "singleProviderTotals"> };

/**
 * Whether the waiting dust may count now. Above the single-provider limit, enough providers must confirm the inbox's
 * balance first, because a provider that invents one transfer can invent any number of small ones.
 */
export function canCountDust(holding: Holding, { intent, facts }: CountContext): boolean {
  const agreement = facts.chains.get(holding.chain)?.agreement;
  if (agreement === undefined || holding.verified_block >= holding.dust_block) return true;
  // The facts may show the holding before its sums were computed again.
  const others = facts.holdings.filter(({ after }) => after.chain !== holding.chain || after.token !== holding.token);
  const totals = [
    ...facts.singleProviderTotals,
    ...dustTotals(intent, others),
    totalOf(intent, holding, holding.dust_units + holding.waiting_units),
  ];
  const onChain = totals.filter(({ chain }) => chain === holding.chain);
  const units = onChain.reduce((sum, each) => sum + convertUnits(each.units, each.decimals, PRICE_DECIMALS), 0n);
  return units <= agreement.abovePriceUnits;
}
