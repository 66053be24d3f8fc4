import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import type { BlockRange, ChainReader, Transfer } from "../../chain/reader.ts";
import { array } from "../../db/parameters.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { HINT_TTL_MS } from "../../view/registerView.ts";
import { listHintedInboxes } from "../../view/store.ts";
import { watchTopic } from "../follow/followHeads.ts";
import { getChainMemory } from "../chainMemory.ts";
import { filterInboxTransfers, distinctChainTxs } from "../movement.ts";
import { isRangeTooLarge } from "../catchUp/readRange.ts";
import { applyFoundTransfers } from "./rescan.ts";
import type { WatchWorld } from "../store/applySegment.ts";
import { findCursor, listMovementsBetween } from "../store/store.ts";

// A payer who looks at the page has paid, or is about to. The chain is looked at then without waiting for its interval; and what an answer may
// have left out of the last blocks is asked for once more, by the inboxes in question alone. However many are looking, it is a few
// questions a second, and what they find goes the same way as every other reading.

/** Inboxes in one question: providers take no more topics. */
const INBOXES_MAX = 1_000;
/** Between two questions about one chain. */
const SCAN_INTERVAL_MS = 250;
/** After a start, what was reported shortly before is still asked for. */
const STARTUP_LOOKBACK_MS = 10_000;
/** So many blocks below the cursor are asked about: a payment that is older is found when its block is final. */
const BLOCKS_MAX = 128n;
/** A provider that lets itself be asked about fewer blocks than this is left alone until the next look. */
const BLOCKS_MIN = 4n;
/** Tries within one look; each halves the blocks at least. */
const ATTEMPTS_MAX = 8;

/** Looks where payers are looking. True when more of them are waiting. Bounded to a few questions a second. */
export async function scanHintedInboxes(world: WatchWorld, chain: Chain, signal?: AbortSignal): Promise<boolean> {
  const memory = getChainMemory(world, chain);
  await world.clock.sleep(Math.max(0, memory.hintsScannedAtMs + SCAN_INTERVAL_MS - world.clock.monotonicMs()), signal);
  if (signal?.aborted) return false;
  memory.hintsScannedAtMs = world.clock.monotonicMs();
  world.wake.notify(watchTopic(chain));
  const newest = addMs(world.clock.now(), HINT_TTL_MS);
  const after = memory.hintsScannedUpTo ?? addMs(newest, -STARTUP_LOOKBACK_MS);
  const [namespace, reference] = [namespaceOf(chain.caip2), referenceOf(chain.caip2)];
  const hints = await listHintedInboxes(world.db, { namespace, reference, after, limit: INBOXES_MAX });
  const last = hints.at(-1)?.expiresAt;
  if (last === undefined) return false;
  // Another process whose clock is ahead must not make us deaf to our own payers.
  memory.hintsScannedUpTo = last < newest ? last : newest;
  await scanInboxes(world, chain, hints);
  return hints.length === INBOXES_MAX;
}

async function scanInboxes(
  world: WatchWorld,
  chain: Chain,
  hints: readonly { inbox: string; token: string }[],
): Promise<void> {
  const cursor = await findCursor(world.db, chain.caip2);
  if (cursor === undefined) return;
  const inboxes = new Set(hints.map(({ inbox }) => inbox));
  const tokens = [...new Set(hints.map(({ token }) => token))];
  const question = { upTo: cursor.number, tokens, inboxes: [...inboxes] };
  const found = await chain.providers.askInReverseOrder((reader) => readRecent(world, chain, { reader, ...question }));
  // What goes out of an inbox is nothing that a payer waits for, and one provider's word is too little for it.
  const transfers = found.transfers.filter(({ from, to }) => inboxes.has(to) && !inboxes.has(from));
  const candidates = filterInboxTransfers(transfers, (address) => inboxes.has(address));
  if (candidates.length === 0) return;
  const range = { fromBlock: found.fromBlock, toBlock: cursor.number };
  const recorded = await listMovementsBetween(world.db, { chain: chain.caip2, ...range });
  const known = new Set(recorded.map((row) => placeKey({ blockHash: row.block_hash, place: row.place })));
  const missing = candidates.filter((candidate) => !known.has(placeKey(candidate)));
  if (missing.length === 0) return;
  const chainTxs = distinctChainTxs(missing);
  // One provider's word adds what was never told before. What is recorded otherwise, or was taken back, is for several of them to decide.
  const recordedTxs = await listRecordedTxs(world, { chain: chain.caip2, chainTxs });
  const newTransfers = transfers.filter(({ chainTx }) => chainTxs.includes(chainTx) && !recordedTxs.has(chainTx));
  const written = await applyFoundTransfers(world, chain, { transfers: newTransfers, isOnlyIncoming: true });
  if (written.length > 0)
    world.log.warn(
      { chain: chain.caip2, recorded: written.length },
      "what a provider had left out was found because a payer was looking",
    );
}

type RecentBlocksQuery = { reader: ChainReader; upTo: bigint; tokens: readonly string[]; inboxes: readonly string[] };

/** The last blocks up to the cursor, as many of them as the provider answers at once. */
async function readRecent(
  world: WatchWorld,
  chain: Chain,
  { reader, upTo, tokens, inboxes }: RecentBlocksQuery,
): Promise<{ fromBlock: bigint; transfers: Transfer[] }> {
  const { hintSize } = getChainMemory(world, chain);
  for (let tries = 0; tries < ATTEMPTS_MAX; tries += 1) {
    const range = lastBlocks(upTo, hintSize.blocks);
    try {
      const transfers = await reader.transfers(range, tokens, inboxes);
      hintSize.adjust(range, transfers.length);
      return { fromBlock: range.fromBlock, transfers };
    } catch (error) {
      if (!isRangeTooLarge(error)) throw error;
      if (!hintSize.shrink(error.suggestion) || hintSize.blocks < BLOCKS_MIN) break;
    }
  }
  return { fromBlock: upTo, transfers: [] };
}

function lastBlocks(upTo: bigint, wanted: bigint): BlockRange {
  const blocks = wanted < BLOCKS_MIN ? BLOCKS_MIN : wanted > BLOCKS_MAX ? BLOCKS_MAX : wanted;
  return { fromBlock: upTo >= blocks ? upTo - blocks + 1n : 0n, toBlock: upTo };
}

/** Those of the transactions of which a movement was ever recorded. */
async function listRecordedTxs(
  { db }: Pick<WatchWorld, "db">,
  { chain, chainTxs }: { chain: Caip2; chainTxs: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await sql<{ chainTx: string }>`/* named: list_recorded_txs */
    select distinct chain_tx as "chainTx" from movement
    where chain = ${chain} and chain_tx = any(${array(chainTxs, "text")})`.execute(db.root);
  return new Set(rows.map((row) => row.chainTx));
}

function placeKey({ blockHash, place }: { blockHash: string; place: bigint }): string {
  return `${blockHash}/${place}`;
}
