import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../../kernel/clock.ts";
import { advancePass, claimPass, type BalancePass } from "../reconcile/balanceStore.ts";
import { compareInboxes } from "../reconcile/compareInboxes.ts";
import { readPassPage } from "../reconcile/passPages.ts";
import { searchDifferences } from "../reconcile/reconcileBalances.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { viewing } from "../wakes.ts";
import { skipUnreadable } from "../unreadable/acceptUnreadable.ts";
import { compareOtherTokens, compareViewedOtherTokens } from "./compareOtherTokens.ts";
import { explainBalances } from "./explainBalances.ts";
import { passOrder } from "./passOrder.ts";
import { rereadSettled } from "./rereadSettled.ts";

// Some chains cannot be read block by block at a bearable cost, and no transfer can be found there by its recipient.
// But money in an inbox is still there, or a settlement took it, and settlements are listed. So the balances of all
// inboxes are compared with what is recorded: those that payers look at with every new block, the others page after
// page. A balance that differs leads to the transfers of its inbox.

/** A process that ends keeps its page for this long. */
const CLAIM_MS = 10_000;
/** The shortest time between two comparisons of what payers look at, of all processes together. */
const VIEWED_MS = 200;
/** All balances are compared in this time, however many they are. */
const PASS_MS = 600_000;
/** Inboxes in a page of a pass: as many as four requests at a time take. */
const PAGE_INBOXES = 400;
const POLL_MS_DEFAULT = 1_000;

/**
 * Compares the next page of inboxes of a chain that is read by accounts, and records the deposits that their balances
 * show. Returns the pause until the next page in milliseconds, or undefined when none was due. Bounded, and safe in any
 * number of processes. Throws ProviderFailed when no provider answers; a later step then reads the same page.
 */
export async function followAccounts(
  world: WatchWorld,
  chain: Chain,
  scope: "viewed" | "all",
): Promise<number | undefined> {
  const at = world.clock.now();
  const startedMs = world.clock.monotonicMs();
  skipUnreadable(world, chain);
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS) };
  const pass = await claimPass(world.db, { ...claim, pauseMs: PASS_MS }, [scope]);
  return pass && comparePage(world, chain, { pass, startedMs });
}

/**
 * Does what may take long and no deposit waits for: searches what nothing explains, lists settlements once more, and
 * compares the other tokens. Bounded. What fails is logged, and holds up nothing.
 */
export async function searchAccounts(world: WatchWorld, chain: Chain): Promise<void> {
  skipUnreadable(world, chain);
  await searchDifferences(world, chain, CLAIM_MS);
  for (const step of [rereadSettled, compareOtherTokens]) {
    try {
      await step(world, chain);
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      const { caip2 } = chain;
      const message = "a slow reading of accounts failed; it is repeated";
      warnRepeated(world, {
        key: `${step.name} ${caip2} ${error.kind}`,
        fields: { chain: caip2, err: error },
        message,
      });
    }
  }
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
  if (scope === "viewed" && position === null) viewing(world, chain).isViewed = page.inboxes.length > 0;
  if (page.inboxes.length > 0) {
    const isReverse = scope === "all" && isPassReverse(world, chain, position);
    const compared = { inboxes: page.inboxes, preferred: "booked", isReverse } as const;
    const { block, balances } = await compareInboxes(world, chain, compared);
    if (block) await explainBalances(world, chain, { cursor: block, balances, isReverse });
    if (scope === "viewed") await compareViewedOtherTokens(world, chain, { ...page, position });
  }
  const at = world.clock.now();
  const workedMs = world.clock.monotonicMs() - startedMs;
  const pauseMs =
    scope === "all" ? pagePauseMs(world, chain, { pass, workedMs }) : page.next === undefined ? VIEWED_MS : 0;
  const progress = { position: page.next, comparedCount: page.inboxes.length, at, nextAt: addMs(at, pauseMs) };
  await advancePass(world.db, pass, progress);
  return pauseMs;
}

/**
 * Every second pass begins with the last provider, so that the first one cannot hide a deposit for longer than a pass.
 */
function isPassReverse(world: WatchWorld, chain: Chain, position: string | null): boolean {
  const order = passOrder(world, chain);
  if (position === null) order.isReverse = !order.isReverse;
  return order.isReverse;
}

/**
 * Few inboxes are compared as often as the chain is polled; more share the time of a pass, to which the work on each
 * page belongs.
 */
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
