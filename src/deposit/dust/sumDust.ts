import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import { isolateIntents } from "../../watch/store/isolateIntents.ts";
import { lockIntents, type IntentRow } from "../../intent/store.ts";
import { findRoutes } from "../../intent/routes/findRoutes.ts";
import { findPayoutWay } from "../../intent/routes/payoutWay.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { findHandoverCursor } from "../../watch/store/handoverStore.ts";
import { isRewound, takeRewoundNumber } from "../../watch/store/store.ts";
import { applyDepositChanges, type DepositWorld, type IntentChangeSet } from "../applyDepositChanges.ts";
import { lowestFinalBlock, type ChainHead } from "../finality.ts";
import {
  listDepositsToDecide,
  listHeads,
  listIntentsWithPendingMovements,
  listSingleProviderTotals,
} from "../store.ts";
import { addDustBlocks, withoutDust, type Holding, type HoldingChange } from "./dust.ts";
import { canCountDust, dustTotals } from "./dustAgreement.ts";
import {
  listUnchangedHoldings,
  listUnsummedHoldings,
  markSumsStale,
  sumDustBlocks,
  type DustPage,
} from "./dustStore.ts";

/** Inboxes per transaction. */
const INBOXES_MAX = 50;
/** Movements of one inbox per transaction, when not the default; the rest of the last block is added. */
const ROWS_MAX = 20_000;

export type DustLimits = { dustRowsMax?: number };

/**
 * Adds dust in blocks that are final by the chain's strictest rule to the sums of its inboxes, and counts it where it reaches the minimum or
 * completes the price. Each call takes one page of inboxes and of each inbox one page of blocks. Returns the number of inboxes in `summed`.
 */
export async function sumDust(
  world: DepositWorld & DustLimits,
  chain: Caip2,
): Promise<{ isDone: boolean; summed: number }> {
  if (await isRewound(world.db, chain)) await world.db.transaction((tx) => markRewoundSums(tx, chain));
  const finalBlock = strictestFinalBlock(world, chain, await listHeads(world.db.root));
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

function strictestFinalBlock(world: DepositWorld, chain: Caip2, heads: ReadonlyMap<string, ChainHead>): bigint {
  return lowestFinalBlock(findWatchedChain(world.catalog, chain)?.finality ?? [], heads.get(chain));
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
    const heads = await listHeads(tx);
    const finalBlock = strictestFinalBlock(world, chain, heads);
    const cases = await buildChangeSets(tx, world, { chain, intents, finalBlock, at });
    await applyDepositChanges(tx, world, { cases, heads, at });
    return cases.every(({ holdings }) => hasReached(holdings, finalBlock));
  });
}

/** After a reorganisation of summed blocks the sums of the inboxes are computed again. */
async function markRewoundSums(tx: Tx, chain: Caip2): Promise<void> {
  const rewoundNumber = await takeRewoundNumber(tx, chain);
  if (rewoundNumber !== undefined) await markSumsStale(tx, { chain, above: rewoundNumber });
}

function hasReached(holdings: readonly HoldingChange[], finalBlock: bigint): boolean {
  return holdings.every(({ before, after }) => before === after || after.dust_block >= finalBlock);
}

type SumContext = {
  chain: Caip2;
  intents: readonly IntentRow[];
  finalBlock: bigint;
  at: Date;
};

async function buildChangeSets(
  tx: Tx,
  world: DepositWorld & DustLimits,
  context: SumContext,
): Promise<IntentChangeSet[]> {
  const { chain, finalBlock } = context;
  const ids = context.intents.map((intent) => intent.id);
  // The head may belong to a branch that replaced a block of these inboxes. They are summed once processMovements has caught up.
  const cursor = await findHandoverCursor(tx, "deposit_cursor", chain);
  const pending = await listIntentsWithPendingMovements(tx, cursor, ids);
  const intents = context.intents.filter((intent) => !pending.has(intent.id));
  const intentIds = intents.map((intent) => intent.id);
  const holdingsOf = await listUnchangedHoldings(tx, intentIds);
  const isAsked = ({ chain: on, is_stale, dust_from }: Holding) =>
    on === chain && (is_stale || (dust_from !== null && dust_from <= finalBlock));
  const asked = [...holdingsOf.values()].flat().flatMap(({ before }) => (isAsked(before) ? [before] : []));
  const rowsMax = world.dustRowsMax ?? ROWS_MAX;
  const [stale, fresh] = [asked.filter(({ is_stale }) => is_stale), asked.filter(({ is_stale }) => !is_stale)];
  const pages = [
    ...(await sumDustBlocks(tx, { holdings: fresh, finalBlock, rowsMax })),
    // A changed sum must not show a moment without the rest of it, so stale sums are computed again as a whole.
    ...(await sumDustBlocks(tx, { holdings: stale.map(withoutDust), finalBlock, rowsMax: undefined })),
  ];
  const routesOf = await findRoutes({ db: tx, memory: world.memory }, intents);
  const minimumOf = (intent: IntentRow, holding: Holding) =>
    findPayoutWay(intent, routesOf.get(intent.id) ?? [], holding)?.minimumUnits ?? 0n;
  const counted = await listSingleProviderTotals(tx, intentIds);
  const deposits = await listDepositsToDecide(tx, { intentIds, movementIds: [], chain, aboveBlock: finalBlock });
  const depositsByIntent = Map.groupBy(deposits, (deposit) => deposit.intent_id);
  return intents.map((intent) => {
    const before = holdingsOf.get(intent.id) ?? [];
    const totals = [...counted.filter((each) => each.intentId === intent.id), ...dustTotals(intent, before)];
    const holdings = before.map(({ before: holding }) => ({
      before: holding,
      after: isAsked(holding)
        ? advance(world, { intent, holding, minimumUnits: minimumOf(intent, holding), pages, totals, at: context.at })
        : holding,
    }));
    const changes = (depositsByIntent.get(intent.id) ?? []).map((deposit) => ({ before: deposit, after: deposit }));
    return { intent, hasPendingMovements: false, holdings, changes };
  });
}

type AdvanceInput = {
  intent: IntentRow;
  holding: Holding;
  /** The pinned minimum of the holding's asset. */
  minimumUnits: bigint;
  pages: readonly DustPage[];
  totals: Awaited<ReturnType<typeof listSingleProviderTotals>>;
  at: Date;
};

function advance(world: DepositWorld, input: AdvanceInput): Holding {
  const { intent, at } = input;
  const holding = input.holding.is_stale ? withoutDust(input.holding) : input.holding;
  const page = input.pages.find(
    ({ key }) => key.intent_id === holding.intent_id && key.chain === holding.chain && key.token === holding.token,
  );
  if (page === undefined) return holding;
  const counted = addDustBlocks(holding, { ...page, minimumUnits: input.minimumUnits, at });
  if (counted.dust_count === holding.dust_count) return counted;
  const waiting = addDustBlocks(holding, { ...page, minimumUnits: undefined, at });
  const agreement = findWatchedChain(world.catalog, holding.chain)?.agreement;
  if (canCountDust(waiting, { intent, agreement, counted: input.totals })) return counted;
  return { ...waiting, verify_from: holding.verify_from ?? at };
}
