import { findChain } from "../catalog/catalog.ts";
import { claimIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { applyChanges, type DepositWorld } from "./applyChanges.ts";
import { lowestReach, reachedBlock } from "./finality.ts";
import { findCursor, listHeads, listPendingIntents, listUnheard, listWorkingSet } from "./store.ts";

/** Pending deposits looked at in one transaction. */
const PAGE_MAX = 200;
/** Pages in one call; what is left waits for the next head. */
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

/** One page in one transaction; undefined when it was the last. */
async function countPage(
  world: DepositWorld,
  chain: Caip2,
  after: { blockNumber: bigint; seq: bigint },
): Promise<{ blockNumber: bigint; seq: bigint } | undefined> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const heads = await listHeads(tx);
    const head = heads.get(chain);
    const tiers = findChain(world.catalog, chain)?.finality ?? [];
    const [firstTier] = tiers;
    if (!head || !firstTier) return undefined;
    const uptoBlock = reachedBlock(firstTier.finality, head);
    const pending = await listPendingIntents(tx, { chain, uptoBlock, after, limit: PAGE_MAX });
    if (pending.length === 0) return undefined;
    const claimed = await claimIntents(tx, [...new Set(pending.map((deposit) => deposit.intentId))]);
    // The head may belong to a branch that replaced a deposit's block. Who is behind is counted by takeMovements, once it has caught up.
    const cursor = await findCursor(tx, chain);
    const behind = await listUnheard(
      tx,
      cursor,
      claimed.map((intent) => intent.id),
    );
    const intents = claimed.filter((intent) => !behind.has(intent.id));
    const intentIds = intents.map((intent) => intent.id);
    const known = await listWorkingSet(tx, {
      intentIds,
      movementIds: [],
      chain,
      aboveBlock: lowestReach(tiers, head),
    });
    const knownOf = Map.groupBy(known, (deposit) => deposit.intent_id);
    const cases = intents.map((intent) => ({
      intent,
      isBehind: false,
      changes: (knownOf.get(intent.id) ?? []).map((deposit) => ({ before: deposit, after: deposit })),
    }));
    await applyChanges(tx, world, { cases, heads, at });
    return pending.length < PAGE_MAX ? undefined : pending.at(-1);
  });
}
