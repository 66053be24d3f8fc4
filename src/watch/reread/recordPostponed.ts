import { sql } from "kysely";
import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { Transfer } from "../../chain/reader.ts";
import { array } from "../../db/parameters.ts";
import { computeRereadLimit } from "./rereadFinal.ts";
import { recordFound } from "../search/searchTransfers.ts";
import { matchInboxesInDatabase } from "../inboxes/locateTransfers.ts";
import { wakeBlockConsumers } from "../wakes.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { listHashesAt } from "../store/chainReads.ts";
import { findCursor } from "../store/store.ts";
import { listUnreadableTxs } from "../unreadable/unreadableStore.ts";
import { claimPostponed, deletePostponed } from "../postponed/postponedStore.ts";

/** Transactions in one step. */
const ROWS_AT_A_TIME = 200;
/** Transactions are recorded together while they have fewer transfers than this. */
const TRANSFERS_AT_A_TIME = 500;
/** How much longer a pause is than the writing before it. */
const PAUSE_TIMES = 3;
/** The longest pause between two of them. */
const PAUSE_MS_MAX = 1_000;

/**
 * Records the postponed transactions of one block, a few at once. The pauses between leave the locks and the database
 * to what presses for most of the time. Returns whether more may wait.
 */
export async function recordPostponed(world: WatchWorld, chain: Chain, ending?: AbortSignal): Promise<boolean> {
  const { caip2 } = chain;
  const cursor = await findCursor(world.db, caip2);
  if (cursor === undefined) return false;
  const at = world.clock.now();
  const rows = await claimPostponed(world.db, { chain: caip2, upTo: cursor.number, at, limit: ROWS_AT_A_TIME });
  const [first] = rows;
  if (first === undefined) return false;
  const { blockNumber } = first;
  const transfersOf = await readBlock(world, chain, blockNumber);
  // A transaction whose block was replaced may come back while its old block is not final.
  const mayComeBack = blockNumber > computeRereadLimit(world, chain, cursor);
  let hasEnded = false;
  for (const chainTxs of inParts(
    rows.map(({ chainTx }) => chainTx),
    transfersOf,
  )) {
    if (ending?.aborted) return false;
    const startedMs = world.clock.monotonicMs();
    const transfers = chainTxs.flatMap((chainTx) => transfersOf.get(chainTx) ?? []);
    await recordFound(world, chain, { transfers, isOnlyIncoming: true });
    const ended = await listEnded(world, chain, { chainTxs, transfers, mayComeBack });
    await deletePostponed(world.db, { chain: caip2, blockNumber, chainTxs: ended });
    if (ended.length > 0) {
      hasEnded = true;
      // The sums of dust stopped below what waited.
      wakeBlockConsumers(world, chain);
    }
    const tookMs = world.clock.monotonicMs() - startedMs;
    await world.clock.sleep(Math.min(tookMs * PAUSE_TIMES, PAUSE_MS_MAX), ending);
  }
  return hasEnded;
}

/**
 * The transfers of our block of this number, by transaction. By its hash, so that a provider on another branch answers
 * nothing instead of something else; blocks that were read as a range have none.
 */
async function readBlock(
  world: WatchWorld,
  chain: Chain,
  blockNumber: bigint,
): Promise<ReadonlyMap<string, readonly Transfer[]>> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const [known] = await listHashesAt(world.db.root, { chain: chain.caip2, numbers: [blockNumber] });
  const scope = known ? { blockHash: known.hash, blockNumber } : { fromBlock: blockNumber, toBlock: blockNumber };
  const transfers = await chain.providers.run((reader) => reader.transfers(scope, tokens));
  return Map.groupBy(transfers, ({ chainTx }) => chainTx);
}

type RecordedPart = { chainTxs: readonly string[]; transfers: readonly Transfer[]; mayComeBack: boolean };

/**
 * The transactions whose rows end: all that they moved stands as movements, in this block or another, or a row of its
 * own says that nobody can read them, or our final block does not hold them.
 */
async function listEnded(
  world: WatchWorld,
  chain: Chain,
  { chainTxs, transfers, mayComeBack }: RecordedPart,
): Promise<string[]> {
  const moved = await matchInboxesInDatabase(world, chain, transfers);
  const expected = Map.groupBy(
    moved.filter(({ direction }) => direction === "in"),
    ({ chainTx }) => chainTx,
  );
  const { rows } = await sql<{ chainTx: string; count: bigint }>`/* named: postponed_movements */
    select asked.chain_tx as "chainTx", count(*) as count from unnest(${array(chainTxs, "text")}) as asked (chain_tx)
    cross join lateral (
      select from movement where movement.chain = ${chain.caip2} and movement.chain_tx = asked.chain_tx
        and movement.direction = 'in' and movement.orphaned_at is null offset 0
    ) as standing group by asked.chain_tx`.execute(world.db.root);
  const standing = new Map(rows.map(({ chainTx, count }) => [chainTx, Number(count)]));
  const missing = chainTxs.filter((chainTx) => {
    const count = expected.get(chainTx)?.length ?? 0;
    return (standing.get(chainTx) ?? 0) < Math.max(count, 1);
  });
  const unreadable = await listUnreadableTxs(world.db, { chain: chain.caip2, chainTxs: missing });
  const waiting = new Set(
    missing.filter((chainTx) => !unreadable.has(chainTx) && (mayComeBack || expected.has(chainTx))),
  );
  return chainTxs.filter((chainTx) => !waiting.has(chainTx));
}

/** The transactions in groups, each with few transfers or of one transaction. */
function inParts(chainTxs: readonly string[], transfersOf: ReadonlyMap<string, readonly Transfer[]>): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const chainTx of chainTxs) {
    const count = transfersOf.get(chainTx)?.length ?? 0;
    if (parts.length === 0 || count > room) {
      parts.push([]);
      room = TRANSFERS_AT_A_TIME;
    }
    parts.at(-1)?.push(chainTx);
    room -= count;
  }
  return parts;
}
