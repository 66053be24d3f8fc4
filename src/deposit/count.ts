import { isPriceReached } from "../intent/progress.ts";
import type { IntentRow } from "../intent/store.ts";
import { payoutUnits, type Deposit } from "./deposit.ts";

// From final blocks to counted money. Pure: the same facts give the same answer in whatever order they were heard of.

/** For each chain, the highest block whose deposits may be counted for this intent. */
export type FinalBlocks = ReadonlyMap<string, bigint>;

/** Deposits that became final are confirmed; those that may be are counted. Untouched ones are returned as they came. */
export function countFinal(
  intent: IntentRow,
  deposits: readonly Deposit[],
  context: { final: FinalBlocks; at: Date },
): Deposit[] {
  const confirmed = deposits.map((deposit) => confirm(deposit, context));
  const waiting = confirmed.filter((deposit) => deposit.status === "confirmed");
  const countable = new Set(countableOf(intent, waiting));
  return confirmed.map((deposit) => {
    if (countable.has(deposit)) return count(deposit, intent, context.at);
    return deposit.status === "confirmed" && deposit.reason === null
      ? { ...deposit, reason: "below_minimum" }
      : deposit;
  });
}

function confirm(deposit: Deposit, context: { final: FinalBlocks; at: Date }): Deposit {
  const final = context.final.get(deposit.chain);
  if (deposit.status !== "seen" || final === undefined || deposit.block_number > final) return deposit;
  return { ...deposit, status: "confirmed", confirmed_at: context.at, updated_at: context.at };
}

function count(deposit: Deposit, intent: IntentRow, at: Date): Deposit {
  return {
    ...deposit,
    status: "counted",
    reason: null,
    counted_units: payoutUnits(deposit, intent),
    counted_at: at,
    updated_at: at,
  };
}

/**
 * Which of the waiting deposits count. All, once together with what is counted they reach the price: a minimum may delay dust,
 * never a payer who has paid. Otherwise those of a chain and token whose waiting sum reaches the minimum.
 */
function countableOf(intent: IntentRow, waiting: readonly Deposit[]): Deposit[] {
  const waitingUnits = waiting.reduce((sum, deposit) => sum + payoutUnits(deposit, intent), 0n);
  if (reachesPrice(intent, intent.counted_units + waitingUnits)) return [...waiting];
  const groups = Map.groupBy(waiting, (deposit) => `${deposit.chain}/${deposit.token}`);
  return [...groups.values()].filter((group) => sumUnits(group) >= intent.minimum_units).flat();
}

function sumUnits(deposits: readonly Deposit[]): bigint {
  return deposits.reduce((sum, deposit) => sum + deposit.amount_units, 0n);
}

export function reachesPrice(intent: IntentRow, countedUnits: bigint): boolean {
  const price = intent.price_token_units;
  return price !== null && isPriceReached(price, intent.underpay_tolerance_bps, countedUnits);
}
