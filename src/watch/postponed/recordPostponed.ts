import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { Transfer } from "../../chain/reader.ts";
import { applyFoundTransfers } from "../reread/rescan.ts";
import type { WatchWorld } from "../store/applySegment.ts";
import { findCursor } from "../store/store.ts";
import { claimPostponed, deletePostponed } from "../unreadable/unreadableStore.ts";

/** Transactions in one step. */
const ROWS_AT_A_TIME = 200;
/** Transactions are recorded together while they have fewer transfers than this. */
const TRANSFERS_AT_A_TIME = 500;
/** How much longer a pause is than the writing before it. */
const PAUSE_TIMES = 3;
/** The longest pause between two of them. */
const PAUSE_MS_MAX = 1_000;

/**
 * Records the postponed transactions of one block, a few at once. The pauses between leave the locks and the database to what presses for most of
 * the time. Returns whether more may wait.
 */
export async function recordPostponed(world: WatchWorld, chain: Chain, ending?: AbortSignal): Promise<boolean> {
  const { caip2 } = chain;
  const cursor = await findCursor(world.db, caip2);
  if (cursor === undefined) return false;
  const at = world.clock.now();
  const rows = await claimPostponed(world.db, { chain: caip2, upTo: cursor.number, at, limit: ROWS_AT_A_TIME });
  const [first] = rows;
  if (first === undefined) return false;
  const range = { fromBlock: first.blockNumber, toBlock: first.blockNumber };
  const tokens = watchedTokens(world.catalog, caip2);
  const transfers = await chain.providers.ask((reader) => reader.transfers(range, tokens));
  const transfersOf = Map.groupBy(transfers, ({ chainTx }) => chainTx);
  // A transaction whose block was replaced may come back until its old block would be final. The reading of its new block moves its row.
  const isFinal = first.blockNumber <= cursor.finalized_number;
  const ended = rows.filter(({ chainTx }) => isFinal || transfersOf.has(chainTx)).map(({ chainTx }) => chainTx);
  for (const chainTxs of inParts(ended, transfersOf)) {
    if (ending?.aborted) return false;
    const startedMs = world.clock.monotonicMs();
    const ofPart = chainTxs.flatMap((chainTx) => transfersOf.get(chainTx) ?? []);
    await applyFoundTransfers(world, chain, { transfers: ofPart, isOnlyIncoming: true });
    await deletePostponed(world.db, { chain: caip2, blockNumber: first.blockNumber, chainTxs });
    const tookMs = world.clock.monotonicMs() - startedMs;
    await world.clock.sleep(Math.min(tookMs * PAUSE_TIMES, PAUSE_MS_MAX), ending);
  }
  return ended.length > 0;
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
