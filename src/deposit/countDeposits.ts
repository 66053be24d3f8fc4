import { findWatchedChain } from "../catalog/catalog.ts";
import { isolateIntents } from "../handover/isolateIntents.ts";
import { lockIntents } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { decideIntents, type DepositWorld } from "./decide/applyDecisions.ts";
import { readFacts } from "./decide/readFacts.ts";
import { findHead, listPendingIntents } from "./store.ts";
import { lastFinalBlock } from "../watch/finality.ts";

/** Pending deposits per transaction. */
const PAGE_MAX = 200;
/** Pages per call; the rest waits for the next head. */
const PAGES_MAX = 1_000;

type Place = { blockNumber: bigint; seq: bigint };

/**
 * Counts deposits whose blocks have become final since they were seen. Returns the number of deposits that were decided
 * again.
 */
export async function countDeposits(world: DepositWorld, chain: Caip2): Promise<number> {
  let after: Place | undefined = { blockNumber: -1n, seq: -1n };
  let decided = 0;
  for (let page = 0; page < PAGES_MAX && after !== undefined; page += 1) {
    const counted: CountedPage = await countPage(world, chain, after);
    decided += counted.decided;
    after = counted.next;
  }
  return decided;
}

/** `next`: where the next page begins, undefined after the last. */
type CountedPage = { decided: number; next: Place | undefined };

async function countPage(world: DepositWorld, chain: Caip2, after: Place): Promise<CountedPage> {
  const pending = await listPending(world, chain, after);
  await isolateIntents(world, {
    chain,
    work: "count deposits",
    intentIds: [...new Set(pending.map((deposit) => deposit.intentId))],
    step: (intentIds) => countIntents(world, chain, intentIds),
  });
  return { decided: pending.length, next: pending.length < PAGE_MAX ? undefined : pending.at(-1) };
}

/** Deposits in blocks that are final by the chain's first rule. */
async function listPending(world: DepositWorld, chain: Caip2, after: Place): Promise<(Place & { intentId: string })[]> {
  const [firstTier] = findWatchedChain(world.catalog, chain)?.finality ?? [];
  const head = await findHead(world.db.root, world.catalog, chain);
  if (!head || !firstTier) return [];
  const uptoBlock = lastFinalBlock(firstTier.finality, head);
  return listPendingIntents(world.db.root, { chain, uptoBlock, after, limit: PAGE_MAX });
}

async function countIntents(world: DepositWorld, chain: Caip2, ids: readonly string[]): Promise<void> {
  const at = world.clock.now();
  await world.db.transaction(async (tx) => {
    const intents = await lockIntents(tx, ids);
    await decideIntents(tx, world, { cases: await readFacts(tx, world, { intents, chain, at }), at });
  });
}
