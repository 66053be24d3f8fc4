import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../../kernel/clock.ts";
import { advancePass, claimPass } from "../reconcile/balanceStore.ts";
import { compareInboxes } from "../reconcile/compareInboxes.ts";
import { readPassPage, type ComparedInbox } from "../reconcile/passPages.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { passOrder } from "./passOrder.ts";
import { explainBalances } from "./explainBalances.ts";

// An inbox that takes one token may be sent another configured one. Each token of a page costs a request, and such
// deposits never count. So the other tokens are compared less often than the own one: those of inboxes that payers look
// at every few seconds, those of all in a slow pass.

/** The shortest time between two comparisons of what payers look at. */
const VIEWED_MS = 5_000;
/** The shortest time between two pages of all inboxes, which limits the requests. */
const PAGE_MS = 10_000;
/** The shortest time of a pass over all inboxes. */
const PASS_MS = 3_600_000;
/** A process that ends keeps its page for this long. */
const CLAIM_MS = 60_000;
/** Inboxes in a page. */
const PAGE_INBOXES = 400;

/** On the monotonic clock. */
const lastComparisons = perChain(() => ({
  /** When what payers look at was compared, and whether the current pass over that compares it. */
  viewedAtMs: -Infinity,
  isViewedDue: false,
  /** When a page of all inboxes was compared. */
  pageAtMs: -Infinity,
}));

/**
 * Compares the next page of all inboxes, when it is due. Throws ProviderFailed when no provider answers; a later step
 * then reads the same page.
 */
export async function compareOtherTokens(world: WatchWorld, chain: Chain): Promise<void> {
  const last = lastComparisons(world, chain);
  const nowMs = world.clock.monotonicMs();
  if (!hasSeveralTokens(world, chain) || nowMs - last.pageAtMs < PAGE_MS) return;
  last.pageAtMs = nowMs;
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS), pauseMs: PASS_MS };
  const pass = await claimPass(world.db, claim, ["other_tokens"]);
  if (pass === undefined) return;
  const { scope, position } = pass;
  const query = { chain: chain.caip2, scope, position, at, inboxesMax: PAGE_INBOXES };
  const { inboxes, next } = await readPassPage(world.db, query);
  await compare(world, chain, inboxes);
  const comparedAt = world.clock.now();
  // A pass may have begun before the clock stepped back.
  const startedAt = pass.started_at < comparedAt ? pass.started_at : comparedAt;
  const [pageAt, passEnd] = [addMs(comparedAt, PAGE_MS), addMs(startedAt, PASS_MS)];
  const nextAt = next === undefined && passEnd > pageAt ? passEnd : pageAt;
  const comparedCount = inboxes.length;
  await advancePass(world.db, pass, { position: next, comparedCount, at: comparedAt, nextAt });
}

/**
 * Compares a page of what payers look at, in every pass that begins after the interval. A failure delays no deposit
 * that counts.
 */
export async function compareViewedOtherTokens(
  world: WatchWorld,
  chain: Chain,
  { inboxes, position }: { inboxes: readonly ComparedInbox[]; position: string | null },
): Promise<void> {
  const last = lastComparisons(world, chain);
  const nowMs = world.clock.monotonicMs();
  if (position === null) {
    last.isViewedDue = hasSeveralTokens(world, chain) && nowMs - last.viewedAtMs >= VIEWED_MS;
    if (last.isViewedDue) last.viewedAtMs = nowMs;
  }
  if (!last.isViewedDue) return;
  try {
    await compare(world, chain, inboxes);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const { caip2 } = chain;
    const message = "the balances of tokens that inboxes do not take cannot be read";
    warnRepeated(world, { key: `other tokens ${caip2} ${error.kind}`, fields: { chain: caip2, err: error }, message });
  }
}

async function compare(world: WatchWorld, chain: Chain, inboxes: readonly ComparedInbox[]): Promise<void> {
  if (inboxes.length === 0) return;
  // As the passes over the own tokens, so that no provider stays the only one that is asked.
  const { isReverse } = passOrder(world, chain);
  const compared = { inboxes, preferred: "booked", isReverse, tokens: "other" } as const;
  const { block, balances } = await compareInboxes(world, chain, compared);
  if (block) await explainBalances(world, chain, { cursor: block, balances, isReverse });
}

function hasSeveralTokens({ catalog }: WatchWorld, { caip2 }: Chain): boolean {
  return watchedTokens(catalog, caip2).length > 1;
}
