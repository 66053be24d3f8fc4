import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { addMs } from "../../kernel/clock.ts";
import type { WatchWorld } from "../watchWorld.ts";
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
import type { ComparedBalance } from "./comparedBalance.ts";
import { compareInboxes, isDifferent } from "./compareInboxes.ts";
import { searchDifference } from "./searchDifference.ts";
import { readPassPage, type PassPage, type ComparedInbox } from "./passPages.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { nameContradictedProvider } from "./nameFaultyProviders.ts";
import { listPostponedInboxes } from "../postponed/postponedStore.ts";
import { listUnreadableInboxes } from "../unreadable/unreadableStore.ts";

// A provider may omit a transfer at both readings of its block, and then nothing that was recorded shows it. Only the
// balance of the inbox does. So the balances are compared with the ledger: of recent inboxes every hour, of all every
// day.

const HOUR_MS = 3_600_000;
const INTERVAL_MS: Readonly<Record<BalancePass["scope"], number>> = {
  settled: HOUR_MS,
  other_tokens: HOUR_MS,
  created: HOUR_MS,
  moved: HOUR_MS,
  viewed: HOUR_MS,
  all: 24 * HOUR_MS,
};
/**
 * Interval between two pages of one chain, of all processes together. With the size of a page, the limit of requests
 * per minute.
 */
export const PAGE_INTERVAL_MS = 5_000;
/** A process that ends keeps its page for this long. */
const CLAIM_MS = 120_000;
/** Pause when no final block's balances can be read. */
const UNREADABLE_MS = 60_000;
/** Searches in one step. */
const SEARCHES_MAX = 4;
/** Differences that wait for their first search in this process. The others are found by the alarm checks alone. */
const NEW_DIFFERENCES_MAX = 1_000;
/** Pages without an inbox to compare, passed in one step. */
const EMPTY_PAGES_MAX = 50;

/** Differences that this process has found and not searched yet, by inbox and token. */
const unsearchedDifferences = perChain(() => new Map<string, ComparedBalance>());

/**
 * Compares the next inboxes of a chain with the ledger, and continues one search. Records missing transfers, and logs
 * what stays different. Bounded, and safe in any number of processes. Throws ProviderFailed when no provider answers;
 * the next step then reads the same page.
 */
export async function reconcileBalances(world: WatchWorld, chain: Chain): Promise<void> {
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS) };
  const pass = await claimPass(world.db, claim);
  if (pass) await comparePage(world, chain, pass);
  // After the pass, so that inboxes whose transfers cannot be read hold up no other.
  await searchDifferences(world, chain, CLAIM_MS);
}

/** Continues the searches that are due, a few at most. A search that fails delays no other, and is continued later. */
export async function searchDifferences(world: WatchWorld, chain: Chain, claimMs: number): Promise<void> {
  for (let searches = 0; searches < SEARCHES_MAX; searches += 1) {
    const at = world.clock.now();
    const difference = await claimDifference(world.db, { chain: chain.caip2, at, until: addMs(at, claimMs) });
    if (difference === undefined) return;
    try {
      const isExplained = await continueSearch(world, chain, difference);
      await reportNew(world, chain, { difference, isExplained });
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      const { inbox } = difference;
      warnRepeated(world, {
        key: `search ${chain.caip2} ${inbox} ${error.kind}`,
        fields: { chain: chain.caip2, inbox, err: error },
        message: "the transfers of an inbox whose balance differs cannot be searched now",
      });
    }
  }
}

/** Reports a difference that this process has found, once its first search explained nothing. */
async function reportNew(
  world: WatchWorld,
  chain: Chain,
  { difference, isExplained }: { difference: BalanceDifference; isExplained: boolean },
): Promise<void> {
  const newDifferences = unsearchedDifferences(world, chain);
  const key = differenceKey(difference);
  const found = newDifferences.get(key);
  newDifferences.delete(key);
  if (found === undefined || isExplained) return;
  if (!(await nameContradictedProvider(world, chain, found))) logDifference(world, chain, found);
}

/** Stores a difference, whose search is due then. */
export async function storeDifference(world: WatchWorld, chain: Chain, balance: ComparedBalance): Promise<void> {
  const isNew = await upsertDifference(world.db, { ...toRow(chain, balance), at: world.clock.now() });
  const newDifferences = unsearchedDifferences(world, chain);
  if (isNew && newDifferences.size < NEW_DIFFERENCES_MAX) newDifferences.set(differenceKey(balance), balance);
}

function differenceKey({ inbox, token }: { inbox: string; token: string }): string {
  return `${inbox} ${token}`;
}

/** Prepares the passes of a chain. Does nothing when they exist. */
export async function preparePasses(world: WatchWorld, chain: Chain): Promise<void> {
  await insertPasses(world.db, {
    chain: chain.caip2,
    at: world.clock.now(),
    detection: chain.detection,
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

/**
 * The balances that differ, without those of inboxes that something unreadable or postponed names: what it moved
 * explains nothing yet.
 */
export async function explainableDifferences(
  { db }: WatchWorld,
  { caip2: chain }: Chain,
  balances: readonly ComparedBalance[],
): Promise<ComparedBalance[]> {
  const differing = balances.filter(isDifferent);
  const asked = { chain, inboxes: differing.map(({ inbox }) => inbox) };
  const unreadable = await listUnreadableInboxes(db, asked);
  const postponed = await listPostponedInboxes(db, asked);
  return differing.filter(({ inbox }) => !unreadable.has(inbox) && !postponed.has(inbox));
}

/** Compares inboxes, and makes the search of what differs due. Returns false when their balances cannot be read now. */
async function compareAndSearch(world: WatchWorld, chain: Chain, inboxes: readonly ComparedInbox[]): Promise<boolean> {
  if (inboxes.length === 0) return true;
  const { block, balances } = await compareInboxes(world, chain, { inboxes, preferred: "final" });
  if (block === undefined) return false;
  await resolveEqual(world, chain, balances);
  for (const balance of await explainableDifferences(world, chain, balances))
    await storeDifference(world, chain, balance);
  return true;
}

/** Searches a part of the chain for a difference. Returns whether that explained it. */
async function continueSearch(world: WatchWorld, chain: Chain, difference: BalanceDifference): Promise<boolean> {
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

function toRow(chain: Chain, { intentId, inbox, token, blockNumber, ledgerUnits, chainUnits }: ComparedBalance) {
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

function logDifference(world: WatchWorld, chain: Chain, balance: ComparedBalance): void {
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
