import { isDeliverable, isPriceReached } from "../../intent/paymentStatus.ts";
import type { IntentRow } from "../../intent/store.ts";
import { toPayoutUnits, type Deposit } from "../deposit.ts";

// Confirms and counts deposits in final blocks. Pure: the result is independent of the order in which blocks were read.

/** The highest block per chain whose deposits may be counted for this intent. */
export type FinalBlocks = ReadonlyMap<string, bigint>;

export type CountContext = {
  finalBlocks: FinalBlocks;
  /** Ids of deposits that more providers must confirm before they count. */
  unverified: ReadonlySet<string>;
  /** Final dust of the intent that is not counted, in the payout token's units. It helps to reach the price. */
  waitingDustUnits: bigint;
  /** The pinned minimum of a deposit's asset, in its smallest units. */
  minimumOf: (deposit: Deposit) => bigint;
  at: Date;
};

/**
 * Confirms deposits that became final, and counts the countable ones. Unchanged deposits are returned as the same
 * objects.
 */
export function countFinal(intent: IntentRow, deposits: readonly Deposit[], context: CountContext): Deposit[] {
  const confirmed = deposits.map((deposit) => confirmDeposit(deposit, context));
  const waiting = confirmed.filter((deposit) => deposit.status === "confirmed" && !context.unverified.has(deposit.id));
  const countable = new Set(selectCountable(intent, waiting, context));
  return confirmed.map((deposit) => {
    if (countable.has(deposit)) return countDeposit(deposit, intent, context.at);
    return deposit.status === "confirmed" && deposit.reason === null
      ? { ...deposit, reason: "below_minimum" }
      : deposit;
  });
}

/**
 * A confirmed deposit that a stricter rule does not confirm any more is seen again. Unchanged deposits are returned as
 * the same objects.
 */
export function confirmOrReturn(deposit: Deposit, finalBlocks: FinalBlocks, at: Date): Deposit {
  if (deposit.status !== "confirmed" || deposit.block_number <= (finalBlocks.get(deposit.chain) ?? -1n)) return deposit;
  return { ...deposit, status: "seen", reason: null, confirmed_at: null, updated_at: at };
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
 * Selects the waiting deposits that count. All count once they reach the price together with the counted amount:
 * minimums never delay a fully paid intent. Otherwise a chain and token counts once its waiting sum reaches the
 * minimum. The loop evaluates each block on its own, in block order, so that the result is independent of the batches
 * in which blocks were read.
 */
function selectCountable(
  intent: IntentRow,
  waiting: readonly Deposit[],
  { waitingDustUnits, minimumOf }: CountContext,
): Deposit[] {
  const countable: Deposit[] = [];
  const groups = new Map<string, { units: bigint; minimumUnits: bigint; deposits: Deposit[] }>();
  let reachedUnits = intent.counted_units + waitingDustUnits;
  for (const block of groupByBlock(waiting)) {
    const changedKeys = new Set<string>();
    for (const deposit of block) {
      const key = `${deposit.chain}/${deposit.token}`;
      const group = groups.get(key) ?? { units: 0n, minimumUnits: minimumOf(deposit), deposits: [] };
      group.units += deposit.amount_units;
      group.deposits.push(deposit);
      groups.set(key, group);
      changedKeys.add(key);
      reachedUnits += toPayoutUnits(deposit, intent);
    }
    const isPaid = isPriceDeliverable(intent, reachedUnits);
    for (const key of isPaid ? [...groups.keys()] : changedKeys) {
      const group = groups.get(key);
      if (!group || (!isPaid && group.units < group.minimumUnits)) continue;
      for (const deposit of group.deposits) countable.push(deposit);
      groups.delete(key);
    }
  }
  return countable;
}

/** Deposits grouped by chain and block, lowest block first. */
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

/** Whether the price is reached, or so little is missing that no minimum delays the rest. */
export function isPriceDeliverable(intent: IntentRow, units: bigint): boolean {
  const { price_token_units: price, payout_decimals: decimals, underpay_tolerance_bps: toleranceBps } = intent;
  return price !== null && isDeliverable({ price, decimals, toleranceBps }, units);
}
