import { findWatchedChain } from "../catalog/catalog.ts";
import { lockIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { applyDepositChanges, type DepositWorld } from "./applyDepositChanges.ts";
import { listUnchangedHoldings } from "./dust/dustStore.ts";
import { lowestFinalBlock } from "./finality.ts";
import { listHeads, listPendingIntents, listIntentsWithPendingMovements, listDepositsToDecide } from "./store.ts";
import { findHandoverCursor } from "../watch/store/handoverStore.ts";
import { lastFinalBlock } from "../watch/finality.ts";

/** Pending deposits per transaction. */
const PAGE_MAX = 200;
/** Pages per call; the rest waits for the next head. */
const PAGES_MAX = 1_000;

/** Counts deposits whose blocks have become final since they were seen. */
export async function countDeposits(world: DepositWorld, chain: Caip2): Promise<void> {
  let after = { blockNumber: -1n, seq: -1n };
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const last = await countPage(world, chain, after);
    if (last === undefined) return;
    after = last;
  }
}

/** Counts one page in one transaction. Returns where the next page begins, undefined after the last. */
async function countPage(
  world: DepositWorld,
  chain: Caip2,
  after: { blockNumber: bigint; seq: bigint },
): Promise<{ blockNumber: bigint; seq: bigint } | undefined> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const heads = await listHeads(tx);
    const head = heads.get(chain);
    const tiers = findWatchedChain(world.catalog, chain)?.finality ?? [];
    const [firstTier] = tiers;
    if (!head || !firstTier) return undefined;
    const uptoBlock = lastFinalBlock(firstTier.finality, head);
    const pending = await listPendingIntents(tx, { chain, uptoBlock, after, limit: PAGE_MAX });
    if (pending.length === 0) return undefined;
    const claimed = await lockIntents(tx, [...new Set(pending.map((deposit) => deposit.intentId))]);
    // The head may belong to a branch that replaced a deposit's block. processMovements counts these intents once it has caught up.
    const cursor = await findHandoverCursor(tx, "deposit_cursor", chain);
    const intentsWithPendingMovements = await listIntentsWithPendingMovements(
      tx,
      cursor,
      claimed.map((intent) => intent.id),
    );
    const intents = claimed.filter((intent) => !intentsWithPendingMovements.has(intent.id));
    const intentIds = intents.map((intent) => intent.id);
    const deposits = await listDepositsToDecide(tx, {
      intentIds,
      movementIds: [],
      chain,
      aboveBlock: lowestFinalBlock(tiers, head),
    });
    const holdingsOf = await listUnchangedHoldings(tx, intentIds);
    const depositsByIntent = Map.groupBy(deposits, (deposit) => deposit.intent_id);
    const changeSets = intents.map((intent) => ({
      intent,
      hasPendingMovements: false,
      holdings: holdingsOf.get(intent.id) ?? [],
      changes: (depositsByIntent.get(intent.id) ?? []).map((deposit) => ({ before: deposit, after: deposit })),
    }));
    await applyDepositChanges(tx, world, { cases: changeSets, heads, at });
    return pending.length < PAGE_MAX ? undefined : pending.at(-1);
  });
}
