import { findWatchedChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import { isolateIntents } from "../handover/isolateIntents.ts";
import { lockIntents, type IntentRow } from "../intent/store.ts";
import { findPayoutPath } from "../intent/routes/payoutPath.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { lowestOf } from "../kernel/extremes.ts";
import { takeRewoundNumber } from "../watch/store/store.ts";
import { isRewound } from "../watch/store/chainReads.ts";
import { decideIntents, type DepositWorld } from "./decide/applyDecisions.ts";
import type { IntentFacts } from "./decide/facts.ts";
import { readFacts, type IntentCase } from "./decide/readFacts.ts";
import { lowestFinalBlock } from "./finality.ts";
import { findHead } from "./store.ts";
import { addDustBlocks, restartSums, withoutDust, type Holding } from "./holding/dust.ts";
import { canCountDust } from "./decide/dustAgreement.ts";
import { listUnsummedHoldings, sumDustBlocks, type DustPage, type HoldingKey } from "./holding/dustReads.ts";
import { markSumsStale } from "./holding/holdingStore.ts";

/** Inboxes per transaction. */
const INBOXES_MAX = 50;
/** Movements of one inbox per transaction, when not the default; the rest of the last block is added. */
const ROWS_MAX = 20_000;

export type DustLimits = { dustRowsMax?: number };

/**
 * Adds dust in blocks that are final by the chain's strictest rule to the sums of its inboxes, and counts it where it
 * reaches the minimum or completes the price. Each call takes one page of inboxes and of each inbox one page of blocks.
 * Returns the number of inboxes in `summed`.
 */
export async function sumDust(
  world: DepositWorld & DustLimits,
  chain: Caip2,
): Promise<{ isDone: boolean; summed: number }> {
  if (await isRewound(world.db, chain)) await world.db.transaction((tx) => markRewoundSums(tx, chain));
  const tiers = findWatchedChain(world.catalog, chain)?.finality ?? [];
  const finalBlock = lowestFinalBlock(tiers, await findHead(world.db.root, world.catalog, chain));
  const due = await listUnsummedHoldings(world.db.root, { chain, finalBlock, limit: INBOXES_MAX });
  let isSummed = true;
  await isolateIntents(world, {
    chain,
    work: "sum dust",
    intentIds: [...new Set(due.map((holding) => holding.intent_id))],
    step: async (intentIds) => {
      if (!(await sumIntents(world, chain, intentIds))) isSummed = false;
    },
  });
  return { isDone: due.length < INBOXES_MAX && isSummed, summed: due.length };
}

/** Sums one page of blocks for each inbox of these intents. Returns whether no final dust is left. */
async function sumIntents(
  world: DepositWorld & DustLimits,
  chain: Caip2,
  intentIds: readonly string[],
): Promise<boolean> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const intents = await lockIntents(tx, intentIds);
    const cases = await sumCases(tx, world, { chain, intents, at });
    await decideIntents(tx, world, { cases, at });
    return cases.every(({ facts }) => hasReached(facts, chain));
  });
}

/** After a reorganisation of summed blocks the sums of the inboxes are computed again. */
async function markRewoundSums(tx: Tx, chain: Caip2): Promise<void> {
  const rewoundNumber = await takeRewoundNumber(tx, chain);
  if (rewoundNumber !== undefined) await markSumsStale(tx, { chain, above: rewoundNumber });
}

function hasReached(facts: IntentFacts, chain: Caip2): boolean {
  const lastBlock = lastSummable(facts, chain);
  return facts.holdings.every(({ before, after }) => before === after || after.dust_block >= lastBlock);
}

/**
 * The last block whose dust may be in the sums: it is final, and below what watch has found and not recorded yet. Whole
 * blocks decide, so a part of one would count otherwise than all of it.
 */
function lastSummable({ chains }: IntentFacts, chain: Caip2): bigint {
  const { lowestFinalBlock = -1n, postponedBlock } = chains.get(chain) ?? {};
  return postponedBlock === undefined ? lowestFinalBlock : lowestOf(lowestFinalBlock, postponedBlock - 1n);
}

type SumContext = { chain: Caip2; intents: readonly IntentRow[]; at: Date };

/** The facts of these intents, with a page of final dust added to their holdings on the chain. */
async function sumCases(tx: Tx, world: DepositWorld & DustLimits, context: SumContext): Promise<IntentCase[]> {
  const { chain } = context;
  const known = await readFacts(tx, world, context);
  // The head may belong to a branch that replaced a block of these inboxes. They are summed once processMovements has
  // caught up.
  const cases = known.filter(({ facts }) => !facts.isBehind(chain));
  const asked = cases.flatMap(({ facts }) => {
    const uptoBlock = lastSummable(facts, chain);
    const holdings = facts.holdings.map(({ before }) => before).filter((each) => isAsked(each, facts, chain));
    return holdings.map((each) => ({ ...each, upto_block: uptoBlock }));
  });
  const rowsMax = world.dustRowsMax ?? ROWS_MAX;
  const stale = asked.filter(({ is_stale }) => is_stale).map((each) => ({ ...each, ...withoutDust(each) }));
  const pages = [
    ...(await sumDustBlocks(tx, { holdings: asked.filter(({ is_stale }) => !is_stale), rowsMax })),
    // A changed sum must not show a moment without the rest of it, so stale sums are computed again as a whole.
    ...(await sumDustBlocks(tx, { holdings: stale, rowsMax: undefined })),
  ];
  return cases.map(({ intent, facts }) => ({
    intent,
    facts: facts.withHoldings((holding) =>
      advance(holding, { intent, facts, page: pages.find(({ key }) => isSameInbox(key, holding)) }),
    ),
  }));
}

/** Whether the sums of a holding can change now. Stale ones are computed again once nothing of their inbox waits. */
function isAsked({ chain: on, is_stale, dust_from }: Holding, facts: IntentFacts, chain: Caip2): boolean {
  const lastBlock = lastSummable(facts, chain);
  if (on !== chain) return false;
  if (is_stale) return lastBlock === (facts.chains.get(chain)?.lowestFinalBlock ?? -1n);
  return dust_from !== null && dust_from <= lastBlock;
}

type AdvanceInput = { intent: IntentRow; facts: IntentFacts; page: DustPage | undefined };

function advance(before: Holding, { intent, facts, page }: AdvanceInput): Holding {
  if (page === undefined) return before;
  const { at } = facts;
  const holding = before.is_stale ? restartSums(before, page.blocks) : before;
  const minimumUnits = findPayoutPath(intent, facts.routes, holding)?.minimumUnits ?? 0n;
  const { uptoBlock } = page;
  const blocks = page.blocks.filter(({ blockNumber }) => blockNumber > holding.dust_block);
  const counted = addDustBlocks(holding, { blocks, uptoBlock, minimumUnits, at });
  if (counted.dust_count === holding.dust_count) return counted;
  const waiting = addDustBlocks(holding, { blocks, uptoBlock, minimumUnits: undefined, at });
  if (canCountDust(waiting, { intent, facts })) return counted;
  return { ...waiting, verify_from: holding.verify_from ?? at };
}

function isSameInbox(one: HoldingKey, other: HoldingKey): boolean {
  return one.intent_id === other.intent_id && one.chain === other.chain && one.token === other.token;
}
