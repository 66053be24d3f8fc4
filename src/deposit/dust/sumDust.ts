import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import { isolateIntents } from "../../watch/store/isolateIntents.ts";
import { lockIntents, type IntentRow } from "../../intent/store.ts";
import { findPayoutWay } from "../../intent/routes/payoutWay.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { takeRewoundNumber } from "../../watch/store/store.ts";
import { isRewound } from "../../watch/store/chainReads.ts";
import { decideIntents, type DepositWorld } from "../decision/applyDecisions.ts";
import type { IntentFacts } from "../decision/facts.ts";
import { readFacts, type IntentCase } from "../decision/readFacts.ts";
import { lowestFinalBlock } from "../finality.ts";
import { listHeads } from "../store.ts";
import { addDustBlocks, withoutDust, type Holding } from "./dust.ts";
import { canCountDust, dustTotals } from "./dustAgreement.ts";
import { listUnsummedHoldings, markSumsStale, sumDustBlocks, type DustPage, type HoldingKey } from "./dustStore.ts";

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
  const finalBlock = lowestFinalBlock(tiers, (await listHeads(world.db.root, world.catalog)).get(chain));
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

function hasReached({ chains, holdings }: IntentFacts, chain: Caip2): boolean {
  const finalBlock = chains.get(chain)?.lowestFinalBlock ?? -1n;
  return holdings.every(({ before, after }) => before === after || after.dust_block >= finalBlock);
}

type SumContext = { chain: Caip2; intents: readonly IntentRow[]; at: Date };

/** The facts of these intents, with a page of final dust added to their holdings on the chain. */
async function sumCases(tx: Tx, world: DepositWorld & DustLimits, context: SumContext): Promise<IntentCase[]> {
  const { chain } = context;
  const known = await readFacts(tx, world, context);
  // The head may belong to a branch that replaced a block of these inboxes. They are summed once processMovements has
  // caught up.
  const cases = known.filter(({ facts }) => !facts.isBehind(chain));
  const finalBlock = cases[0]?.facts.chains.get(chain)?.lowestFinalBlock ?? -1n;
  const isAsked = ({ chain: on, is_stale, dust_from }: Holding) =>
    on === chain && (is_stale || (dust_from !== null && dust_from <= finalBlock));
  const asked = cases.flatMap(({ facts }) => facts.holdings.map(({ before }) => before).filter(isAsked));
  const rowsMax = world.dustRowsMax ?? ROWS_MAX;
  const [stale, fresh] = [asked.filter(({ is_stale }) => is_stale), asked.filter(({ is_stale }) => !is_stale)];
  const pages = [
    ...(await sumDustBlocks(tx, { holdings: fresh, finalBlock, rowsMax })),
    // A changed sum must not show a moment without the rest of it, so stale sums are computed again as a whole.
    ...(await sumDustBlocks(tx, { holdings: stale.map(withoutDust), finalBlock, rowsMax: undefined })),
  ];
  return cases.map(({ intent, facts }) => ({
    intent,
    facts: facts.withHoldings((holding) =>
      isAsked(holding)
        ? advance(holding, { intent, facts, page: pages.find(({ key }) => isSameInbox(key, holding)) })
        : holding,
    ),
  }));
}

type AdvanceInput = { intent: IntentRow; facts: IntentFacts; page: DustPage | undefined };

function advance(before: Holding, { intent, facts, page }: AdvanceInput): Holding {
  if (page === undefined) return before;
  const { at } = facts;
  const holding = before.is_stale ? { ...withoutDust(before), is_stale: false } : before;
  const minimumUnits = findPayoutWay(intent, facts.routes, holding)?.minimumUnits ?? 0n;
  const counted = addDustBlocks(holding, { ...page, minimumUnits, at });
  if (counted.dust_count === holding.dust_count) return counted;
  const waiting = addDustBlocks(holding, { ...page, minimumUnits: undefined, at });
  const agreement = facts.chains.get(holding.chain)?.agreement;
  const totals = [...facts.singleProviderTotals, ...dustTotals(intent, facts.holdings)];
  if (canCountDust(waiting, { intent, agreement, counted: totals })) return counted;
  return { ...waiting, verify_from: holding.verify_from ?? at };
}

function isSameInbox(one: HoldingKey, other: HoldingKey): boolean {
  return one.intent_id === other.intent_id && one.chain === other.chain && one.token === other.token;
}
