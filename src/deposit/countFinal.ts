import { isPriceReached } from "../intent/paymentStatus.ts";
import type { IntentRow } from "../intent/store.ts";
import { toPayoutUnits, type Deposit } from "./deposit.ts";

// From final blocks to counted money. Pure: the same facts give the same answer in whatever order they were heard of.

/** For each chain, the highest block whose deposits may be counted for this intent. */
export type FinalBlocks = ReadonlyMap<string, bigint>;

export type CountContext = {
  finalBlocks: FinalBlocks;
  /** Ids of deposits that more providers have to confirm before they count. */
  unverified: ReadonlySet<string>;
  at: Date;
};

/** Deposits that became final are confirmed; those that may be are counted. Untouched ones are returned as they came. */
export function countFinal(intent: IntentRow, deposits: readonly Deposit[], context: CountContext): Deposit[] {
  const confirmed = deposits.map((deposit) => confirmDeposit(deposit, context));
  const waiting = confirmed.filter((deposit) => deposit.status === "confirmed" && !context.unverified.has(deposit.id));
  const countable = new Set(selectCountable(intent, waiting));
  return confirmed.map((deposit) => {
    if (countable.has(deposit)) return countDeposit(deposit, intent, context.at);
    return deposit.status === "confirmed" && deposit.reason === null
      ? { ...deposit, reason: "below_minimum" }
      : deposit;
  });
}

function confirmDeposit(deposit: Deposit, context: CountContext): Deposit {
  const final = context.finalBlocks.get(deposit.chain);
  if (deposit.status !== "seen" || final === undefined || deposit.block_number > final) return deposit;
  if (context.unverified.has(deposit.id)) return deposit;
  return { ...deposit, status: "confirmed", confirmed_at: context.at, updated_at: context.at };
}

function countDeposit(deposit: Deposit, intent: IntentRow, at: Date): Deposit {
  return {
    ...deposit,
    status: "counted",
    reason: null,
    counted_units: toPayoutUnits(deposit, intent),
    counted_at: at,
    updated_at: at,
  };
}

/**
 * Which of the waiting deposits count. All, once together with what is counted they reach the price: a minimum may delay dust,
 * never a payer who has paid. Otherwise those of a chain and token whose waiting sum reaches the minimum. Blocks are gone through in
 * their order, as if each had been heard of alone: what comes after a sum that was reached begins to wait anew, however it was heard.
 */
function selectCountable(intent: IntentRow, waiting: readonly Deposit[]): Deposit[] {
  const countable: Deposit[] = [];
  const groups = new Map<string, { units: bigint; deposits: Deposit[] }>();
  let reachedUnits = intent.counted_units;
  for (const block of groupByBlock(waiting)) {
    const changedKeys = new Set<string>();
    for (const deposit of block) {
      const key = `${deposit.chain}/${deposit.token}`;
      const group = groups.get(key) ?? { units: 0n, deposits: [] };
      group.units += deposit.amount_units;
      group.deposits.push(deposit);
      groups.set(key, group);
      changedKeys.add(key);
      reachedUnits += toPayoutUnits(deposit, intent);
    }
    const isPaid = isIntentPriceReached(intent, reachedUnits);
    for (const key of isPaid ? [...groups.keys()] : changedKeys) {
      const group = groups.get(key);
      if (!group || (!isPaid && group.units < intent.minimum_units)) continue;
      for (const deposit of group.deposits) countable.push(deposit);
      groups.delete(key);
    }
  }
  return countable;
}

/** The blocks of each chain with their deposits, lowest first. */
function groupByBlock(deposits: readonly Deposit[]): Deposit[][] {
  const blocks = Map.groupBy(deposits, (deposit) => `${deposit.chain}/${deposit.block_number}`);
  return [...blocks.values()].toSorted(([one], [other]) => {
    const difference = (one?.block_number ?? 0n) - (other?.block_number ?? 0n);
    return difference < 0n ? -1 : Number(difference > 0n);
  });
}

export function isIntentPriceReached(intent: IntentRow, countedUnits: bigint): boolean {
  const price = intent.price_token_units;
  return price !== null && isPriceReached(price, intent.underpay_tolerance_bps, countedUnits);
}
