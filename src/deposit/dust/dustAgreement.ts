import type { AgreementPolicy } from "../../config/config.ts";
import type { IntentRow } from "../../intent/store.ts";
import { convertUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import type { SingleProviderTotal } from "../agreement/agreement.ts";
import type { Holding, HoldingChange } from "./dust.ts";

/** Counted dust in the form of totals that a single provider reported: it adds to the limit of its chain. */
export function dustTotals(intent: IntentRow, holdings: readonly HoldingChange[]): SingleProviderTotal[] {
  return holdings.map(({ before }) => ({
    intentId: intent.id,
    chain: before.chain,
    decimals: intent.payout_decimals,
    units: before.dust_units,
  }));
}

/**
 * Whether the waiting dust may count now. Above the single-provider limit, enough providers must confirm the inbox's
 * balance first, because a provider that invents one transfer can invent any number of small ones.
 */
export function canCountDust(
  holding: Holding,
  context: { intent: IntentRow; agreement: AgreementPolicy | undefined; counted: readonly SingleProviderTotal[] },
): boolean {
  const { intent, agreement, counted } = context;
  if (agreement === undefined || holding.verified_block >= holding.dust_block) return true;
  const onChain = counted.filter((each) => each.chain === holding.chain);
  const countedUnits = onChain.reduce(
    (sum, { units, decimals }) => sum + convertUnits(units, decimals, PRICE_DECIMALS),
    0n,
  );
  const waitingUnits = convertUnits(holding.waiting_units, intent.payout_decimals, PRICE_DECIMALS);
  return countedUnits + waitingUnits <= agreement.abovePriceUnits;
}
