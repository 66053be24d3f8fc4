import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../../kernel/clock.ts";
import { getChainMemory } from "../chainMemory.ts";
import {
  advancePass,
  claimDifference,
  claimPass,
  listDifferences,
  upsertDifference,
  type BalancePass,
} from "../reconcile/balanceStore.ts";
import { compareInboxes, isDifferent, type ComparedBalance } from "../reconcile/compareInboxes.ts";
import { readPassPage } from "../reconcile/passPages.ts";
import { continueSearch, logDifference, resolveEqual, toRow } from "../reconcile/reconcileBalances.ts";
import type { WatchWorld } from "../store/applySegment.ts";
import type { KnownBlock } from "../store/store.ts";
import { rereadSettled } from "./rereadSettled.ts";
import { nameContradictedProvider, nameOmittingProviders } from "./nameFaultyProviders.ts";
import { findDeposits, type FoundDeposits } from "./findDeposits.ts";

// Some chains cannot be read block by block at a bearable cost, and no transfer can be found there by its recipient. But money in an inbox is
// still there, or a settlement took it, and settlements are listed. So the balances of all inboxes are compared with what is recorded: those
// that payers look at with every new block, the others page after page. A balance that differs leads to the transfers of its inbox.

/** A process that ends keeps its page for this long. */
const CLAIM_MS = 10_000;
/** The shortest time between two comparisons of what payers look at, of all processes together. */
const VIEWED_MS = 200;
/** All balances are compared in this time, however many they are. */
const PASS_MS = 600_000;
/** Inboxes in a page of a pass: as many as four requests at a time take. */
const PAGE_INBOXES = 400;
/** Providers list an inbox's transactions some seconds after they show its balance. */
const UNEXPLAINED_MS = 60_000;
const POLL_MS_DEFAULT = 1_000;
const CONCURRENT_INBOXES_MAX = 4;

/**
 * Compares the next page of inboxes of a chain that is read by accounts, and records the deposits that their balances show. Returns the pause until
 * the next page in milliseconds, or undefined when none was due. Bounded, and safe in any number of processes. Throws ProviderFailed when no
 * provider answers; a later step then reads the same page.
 */
export async function followAccounts(
  world: WatchWorld,
  chain: Chain,
  scope: "viewed" | "all",
): Promise<number | undefined> {
  const at = world.clock.now();
  const startedMs = world.clock.monotonicMs();
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS) };
  if (scope === "all") {
    const difference = await claimDifference(world.db, claim);
    if (difference) await continueSearch(world, chain, difference);
    await rereadSettled(world, chain);
  }
  const pass = await claimPass(world.db, claim, [scope]);
  return pass && comparePage(world, chain, { pass, startedMs });
}

/** Compares a page of a pass. Returns the pause until the next one. */
async function comparePage(
  world: WatchWorld,
  chain: Chain,
  { pass, startedMs }: { pass: BalancePass; startedMs: number },
): Promise<number> {
  const { scope, position } = pass;
  const query = { chain: chain.caip2, scope, position, at: world.clock.now(), inboxesMax: PAGE_INBOXES, viewedMs: 0 };
  const page = await readPassPage(world.db, query);
  if (scope === "viewed" && position === null) getChainMemory(world, chain).isViewed = page.inboxes.length > 0;
  if (page.inboxes.length > 0) {
    const isReverse = scope === "all" && isPassReverse(world, chain, position);
    const compared = { inboxes: page.inboxes, preferred: "booked", isReverse } as const;
    const { block, balances } = await compareInboxes(world, chain, compared);
    if (block) await explainBalances(world, chain, { cursor: block, balances, isReverse });
  }
  const at = world.clock.now();
  const workedMs = world.clock.monotonicMs() - startedMs;
  const pauseMs =
    scope === "all" ? pagePauseMs(world, chain, { pass, workedMs }) : page.next === undefined ? VIEWED_MS : 0;
  const progress = { position: page.next, comparedCount: page.inboxes.length, at, nextAt: addMs(at, pauseMs) };
  await advancePass(world.db, pass, progress);
  return pauseMs;
}

/** Every second pass begins with the last provider, so that the first one cannot hide a deposit for longer than a pass. */
function isPassReverse(world: WatchWorld, chain: Chain, position: string | null): boolean {
  const memory = getChainMemory(world, chain);
  if (position === null) memory.isPassReverse = !memory.isPassReverse;
  return memory.isPassReverse;
}

/** Few inboxes are compared as often as the chain is polled; more share the time of a pass, to which the work on each page belongs. */
function pagePauseMs(
  world: WatchWorld,
  chain: Chain,
  { pass, workedMs }: { pass: BalancePass; workedMs: number },
): number {
  const pages = Math.ceil(Number(pass.completed_count ?? 0n) / PAGE_INBOXES) + 1;
  const pollMs = findWatchedChain(world.catalog, chain.caip2)?.pollMs ?? POLL_MS_DEFAULT;
  const shareMs = PASS_MS / pages;
  return shareMs >= pollMs ? pollMs : Math.max(0, Math.floor(shareMs - workedMs));
}

type ComparedPage = { cursor: KnownBlock; isReverse: boolean };

/** Records what explains each balance that differs. What nothing explains for some time becomes a difference, which raises an alarm. */
async function explainBalances(
  world: WatchWorld,
  chain: Chain,
  { cursor, balances, isReverse }: ComparedPage & { balances: readonly ComparedBalance[] },
): Promise<void> {
  const { unexplainedSinceMs } = getChainMemory(world, chain);
  await resolveEqual(world, chain, balances);
  const differing: ComparedBalance[] = [];
  for (const balance of balances) {
    if (isDifferent(balance)) differing.push(balance);
    else unexplainedSinceMs.delete(keyOf(balance));
  }
  // One inbox with many transfers keeps none of the others waiting.
  const next = differing.values();
  const explainNext = async () => {
    for (const balance of next) await explainBalance(world, chain, { cursor, balance, isReverse });
  };
  await Promise.all(Array.from({ length: CONCURRENT_INBOXES_MAX }, explainNext));
}

async function explainBalance(
  world: WatchWorld,
  chain: Chain,
  { cursor, balance, isReverse }: ComparedPage & { balance: ComparedBalance },
): Promise<void> {
  const { unexplainedSinceMs } = getChainMemory(world, chain);
  const key = keyOf(balance);
  const { isPartial, recorded } = await tryFindDeposits(world, chain, { cursor, balance });
  const [deposit] = recorded;
  if (deposit && isReverse) await nameOmittingProviders(world, chain, deposit);
  const nowMs = world.clock.monotonicMs();
  if (deposit || isPartial) unexplainedSinceMs.delete(key);
  else if (!unexplainedSinceMs.has(key)) unexplainedSinceMs.set(key, nowMs);
  if (nowMs - (unexplainedSinceMs.get(key) ?? nowMs) < UNEXPLAINED_MS) return;
  // Providers may not have the blocks above the cursor yet, and nothing is recorded there.
  const blockNumber = balance.blockNumber < cursor.number ? balance.blockNumber : cursor.number;
  await reportDifference(world, chain, { ...balance, blockNumber });
}

/** A failure counts as a search that explained nothing, so that an inbox that always fails is reported and holds up no other. */
async function tryFindDeposits(...search: Parameters<typeof findDeposits>): Promise<FoundDeposits> {
  try {
    return await findDeposits(...search);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const [{ log, clock }, { caip2 }, { balance }] = search;
    warnRepeated(
      { log, clock },
      {
        key: `accounts ${caip2} ${balance.inbox} ${error.kind}`,
        fields: { chain: caip2, inbox: balance.inbox, err: error },
        message: "the transfers of an inbox whose balance differs cannot be read",
      },
    );
    return { isPartial: false, recorded: [] };
  }
}

function keyOf({ inbox, token, provider }: ComparedBalance): string {
  return `${inbox} ${token} ${provider}`;
}

async function reportDifference(world: WatchWorld, chain: Chain, balance: ComparedBalance): Promise<void> {
  if (!(await upsertDifference(world.db, { ...toRow(chain, balance), at: world.clock.now() }))) return;
  const found = await listDifferences(world.db, { chain: chain.caip2, inboxes: [balance.inbox] });
  const difference = found.find(({ token }) => token === balance.token);
  if (!difference || (await continueSearch(world, chain, difference))) return;
  if (!(await nameContradictedProvider(world, chain, balance))) logDifference(world, chain, balance);
}

/** Wakes the comparison of what payers look at. */
export function viewedAccountsTopic({ caip2 }: Pick<Chain, "caip2">): string {
  return `viewed accounts:${caip2}`;
}
