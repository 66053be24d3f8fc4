import { isReadByAccounts, type Chain } from "../../chain/chain.ts";
import { addMs } from "../../kernel/clock.ts";
import type { WatchWorld } from "../store/applySegment.ts";
import {
  advancePass,
  claimDifference,
  claimPass,
  deleteDifference,
  insertPasses,
  listDifferences,
  upsertDifference,
  type BalanceDifference,
  type BalancePass,
} from "./balanceStore.ts";
import { compareInboxes, isDifferent, type ComparedBalance } from "./compareInboxes.ts";
import { searchDifference } from "./searchDifference.ts";
import { readPassPage, type PassPage, type ComparedInbox } from "./passPages.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

// A provider may omit a transfer at both readings of its block, and then nothing that was recorded shows it. Only the balance of the inbox
// does. So the balances are compared with the ledger: of recent inboxes every hour, of all every day.

const HOUR_MS = 3_600_000;
const INTERVAL_MS: Readonly<Record<BalancePass["scope"], number>> = {
  settled: HOUR_MS,
  other_tokens: HOUR_MS,
  created: HOUR_MS,
  moved: HOUR_MS,
  viewed: HOUR_MS,
  all: 24 * HOUR_MS,
};
/** Interval between two pages of one chain, of all processes together. With the size of a page, the limit of requests per minute. */
export const PAGE_INTERVAL_MS = 5_000;
/** A process that ends keeps its page for this long. */
const CLAIM_MS = 120_000;
/** Pause when no final block's balances can be read. */
const UNREADABLE_MS = 60_000;
/** Pages without an inbox to compare, passed in one step. */
const EMPTY_PAGES_MAX = 50;

/**
 * Compares the next inboxes of a chain with the ledger, and continues one search. Records missing transfers, and logs what stays different.
 * Bounded, and safe in any number of processes. Throws ProviderFailed when no provider answers; the next step then reads the same page.
 */
export async function reconcileBalances(world: WatchWorld, chain: Chain): Promise<void> {
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS) };
  const difference = await claimDifference(world.db, claim);
  if (difference) await continueSearch(world, chain, difference);
  const pass = await claimPass(world.db, claim);
  if (pass) await comparePage(world, chain, pass);
}

/** Prepares the passes of a chain. Does nothing when they exist. */
export async function preparePasses(world: WatchWorld, chain: Chain): Promise<void> {
  await insertPasses(world.db, {
    chain: chain.caip2,
    at: world.clock.now(),
    isReadByAccounts: isReadByAccounts(chain),
  });
}

async function comparePage(world: WatchWorld, chain: Chain, pass: BalancePass): Promise<void> {
  const page = await readNextPage(world, chain, pass);
  const isReadable = await compareAndSearch(world, chain, page.inboxes);
  const at = world.clock.now();
  if (!isReadable) {
    const nextAt = addMs(at, UNREADABLE_MS);
    const { position } = pass;
    if (position !== null) await advancePass(world.db, pass, { position, comparedCount: 0, at, nextAt });
    return;
  }
  const passEnd = addMs(pass.started_at, INTERVAL_MS[pass.scope]);
  const soonest = addMs(at, PAGE_INTERVAL_MS);
  const nextAt = page.next === undefined && passEnd > soonest ? passEnd : soonest;
  await advancePass(world.db, pass, { position: page.next, comparedCount: page.inboxes.length, at, nextAt });
}

async function readNextPage(world: WatchWorld, chain: Chain, pass: BalancePass): Promise<PassPage> {
  const { scope } = pass;
  const query = { chain: chain.caip2, scope, at: world.clock.now() };
  let page = await readPassPage(world.db, { ...query, position: pass.position });
  for (let pages = 1; pages < EMPTY_PAGES_MAX && page.inboxes.length === 0 && page.next !== undefined; pages += 1)
    page = await readPassPage(world.db, { ...query, position: page.next });
  return page;
}

/** Compares inboxes, and starts the search of what differs. Returns false when their balances cannot be read now. */
async function compareAndSearch(world: WatchWorld, chain: Chain, inboxes: readonly ComparedInbox[]): Promise<boolean> {
  if (inboxes.length === 0) return true;
  const { block, balances } = await compareInboxes(world, chain, { inboxes, preferred: "final" });
  if (block === undefined) return false;
  await resolveEqual(world, chain, balances);
  for (const balance of balances.filter(isDifferent)) {
    const isNew = await upsertDifference(world.db, { ...toRow(chain, balance), at: world.clock.now() });
    if (!isNew) continue;
    const [difference] = (await listDifferences(world.db, { chain: chain.caip2, inboxes: [balance.inbox] })).filter(
      ({ token }) => token === balance.token,
    );
    if (difference && !(await continueSearch(world, chain, difference))) logDifference(world, chain, balance);
  }
  return true;
}

/** Searches a part of the chain for a difference. Returns whether that explained it. */
export async function continueSearch(world: WatchWorld, chain: Chain, difference: BalanceDifference): Promise<boolean> {
  const recorded = await searchDifference(world, chain, difference);
  if (recorded.length === 0) return false;
  const { intent_id: intentId, inbox: address, token } = difference;
  const { balances } = await compareInboxes(world, chain, {
    inboxes: [{ intentId, address, token }],
    preferred: "final",
  });
  await resolveEqual(world, chain, balances);
  const [left] = balances.filter((balance) => balance.token === token);
  if (left && isDifferent(left)) await upsertDifference(world.db, { ...toRow(chain, left), at: world.clock.now() });
  return left !== undefined && !isDifferent(left);
}

/** Deletes the differences of balances that are equal now. */
export async function resolveEqual(
  world: WatchWorld,
  chain: Chain,
  balances: readonly ComparedBalance[],
): Promise<void> {
  const inboxes = [...new Set(balances.map(({ inbox }) => inbox))];
  for (const difference of await listDifferences(world.db, { chain: chain.caip2, inboxes })) {
    const { inbox, token } = difference;
    const balance = balances.find((each) => each.inbox === inbox && each.token === token);
    if (!balance || isDifferent(balance) || !(await deleteDifference(world.db, difference))) continue;
    const { intent_id: intent } = difference;
    world.log.info({ chain: chain.caip2, intent, inbox, token }, "the balance of an inbox matches the ledger again");
  }
}

export function toRow(chain: Chain, { intentId, inbox, token, blockNumber, ledgerUnits, chainUnits }: ComparedBalance) {
  return {
    chain: chain.caip2,
    inbox,
    token,
    intent_id: intentId,
    block_number: blockNumber,
    ledger_units: ledgerUnits,
    chain_units: chainUnits,
  };
}

export function logDifference(world: WatchWorld, chain: Chain, balance: ComparedBalance): void {
  const { intentId, inbox, token, blockNumber, ledgerUnits, chainUnits } = balance;
  const facts = {
    alarm: "balance_differs" as const,
    chain: chain.caip2,
    provider: chain.providers.name,
    intent: intentId,
    inbox,
    token,
    block: String(blockNumber),
    ledgerUnits: String(ledgerUnits),
    chainUnits: String(chainUnits),
  };
  if (chainUnits > ledgerUnits)
    raiseAlarm(world.log, facts, "an inbox holds more than the ledger; its transfers are searched");
  else raiseAlarm(world.log, facts, "an inbox holds less than the ledger; its transfers are searched");
}
