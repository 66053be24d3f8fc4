import { sql } from "kysely";
import { isReadByAccounts, type Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { BlockRange, ChainReader, Transfer } from "../../chain/reader.ts";
import { array } from "../../db/parameters.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { HINT_TTL_MS } from "../../view/registerView.ts";
import { listHintedInboxes } from "../../view/store.ts";
import { viewedAccountsTopic, viewing, watchTopic } from "../wakes.ts";
import { blocksIn, type BlockSpan } from "../blockTime.ts";
import { filterInboxTransfers, distinctChainTxs, type InboxTransfer } from "../movement.ts";
import { isRangeTooLarge, PARSED_LOGS_TARGET, RangeSize } from "../catchUp/readRange.ts";
import { postponeDust } from "../postponed/postponeDust.ts";
import { listPostponedAmong } from "../postponed/postponedStore.ts";
import { recordFound } from "../search/recordFound.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { findCursor } from "../store/store.ts";

// A payer with an open payment page has paid or is about to. So the chain is polled at once, and the last blocks are
// read again for the hinted inboxes only, in case an answer omitted a log. The interval bounds the requests for any
// number of payers, and results follow the path of every other read.

/** Inboxes per request: providers accept no more topics. */
const INBOXES_MAX = 1_000;
/** Minimum interval between two scans of one chain. */
const SCAN_INTERVAL_MS = 250;
/** After a start, hints of this period before it are still scanned. */
const STARTUP_LOOKBACK_MS = 10_000;
/** The newest blocks are scanned; rereading finds older payments when they are final. */
const SCANNED: BlockSpan = { ms: 256_000, min: 16, max: 2_000 };
/** A provider that accepts fewer blocks than this is skipped until the next scan. */
const SCANNED_MIN = 4n;
/** Attempts per scan; each at least halves the range. */
const ATTEMPTS_MAX = 8;

const hintScans = perChain(() => ({
  size: new RangeSize(PARSED_LOGS_TARGET),
  /** Expiry of the last scanned hint; a later expiry is new. */
  scannedUpTo: undefined as Date | undefined,
  /** Time of the last scan, on the monotonic clock. */
  scannedAtMs: -Infinity,
}));

/**
 * Scans the inboxes that payers are watching. Returns whether more hints wait. Bounded to a few requests per second.
 */
export async function scanHintedInboxes(world: WatchWorld, chain: Chain, signal?: AbortSignal): Promise<boolean> {
  const scans = hintScans(world, chain);
  await world.clock.sleep(Math.max(0, scans.scannedAtMs + SCAN_INTERVAL_MS - world.clock.monotonicMs()), signal);
  if (signal?.aborted) return false;
  scans.scannedAtMs = world.clock.monotonicMs();
  if (isReadByAccounts(chain)) {
    viewing(world, chain).isViewed = true;
    world.wake.notify(viewedAccountsTopic(chain));
    return false;
  }
  const newest = addMs(world.clock.now(), HINT_TTL_MS);
  const { scannedUpTo } = scans;
  // After the clock has stepped back, new hints expire before those of the former time.
  const isUsable = scannedUpTo !== undefined && scannedUpTo <= newest;
  const after = isUsable ? scannedUpTo : addMs(newest, -STARTUP_LOOKBACK_MS);
  const [namespace, reference] = [namespaceOf(chain.caip2), referenceOf(chain.caip2)];
  const hints = await listHintedInboxes(world.db, { namespace, reference, after, limit: INBOXES_MAX });
  const last = hints.at(-1)?.expiresAt;
  if (last === undefined) return false;
  world.wake.notify(watchTopic(chain));
  // A hint from a process whose clock is ahead must not hide later hints.
  scans.scannedUpTo = last < newest ? last : newest;
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
  const query = { upTo: cursor.number, tokens, inboxes: [...inboxes] };
  const found = await chain.providers.askInReverseOrder((reader) => readRecent(world, chain, { reader, ...query }));
  // Payers do not wait for movements out, and a single provider is not enough for them.
  const transfers = found.transfers.filter(({ from, to }) => inboxes.has(to) && !inboxes.has(from));
  const candidates = filterInboxTransfers(transfers, (address) => inboxes.has(address));
  if (candidates.length === 0) return;
  const known = await listRecordedPlaces(world, { chain: chain.caip2, candidates });
  const unrecorded = candidates.filter((candidate) => !known.has(placeKey(candidate)));
  const missing = await withoutPostponed(world, { caip2: chain.caip2, mintSender: found.mintSender }, unrecorded);
  if (missing.length === 0) return;
  const chainTxs = distinctChainTxs(missing);
  // A single provider may add new transactions. Recorded or orphaned ones need several providers.
  const recordedTxs = await listRecordedTxs(world, { chain: chain.caip2, chainTxs });
  const newTransfers = transfers.filter(({ chainTx }) => chainTxs.includes(chainTx) && !recordedTxs.has(chainTx));
  const written = await recordFound(world, chain, { transfers: newTransfers, isOnlyIncoming: true });
  if (written.length > 0)
    world.log.warn(
      { chain: chain.caip2, recorded: written.length },
      "a scan for a payer found a transfer that a provider had omitted",
    );
}

/** Without what waits already, and without the dust of very many transfers. Anybody may open a payment page. */
async function withoutPostponed(
  world: WatchWorld,
  reader: Pick<ChainReader, "caip2" | "mintSender">,
  unrecorded: readonly InboxTransfer[],
): Promise<readonly InboxTransfer[]> {
  const chainTxs = distinctChainTxs(unrecorded);
  const waiting = await listPostponedAmong(world.db, { chain: reader.caip2, chainTxs });
  const missing = unrecorded.filter(({ chainTx }) => !waiting.has(chainTx));
  return postponeDust(world, reader, missing);
}

type RecentBlocksQuery = { reader: ChainReader; upTo: bigint; tokens: readonly string[]; inboxes: readonly string[] };

type RecentBlocks = { transfers: readonly Transfer[]; mintSender: string | undefined };

/** Reads the last blocks up to the cursor, as many as the provider accepts. */
async function readRecent(
  world: WatchWorld,
  chain: Chain,
  { reader, upTo, tokens, inboxes }: RecentBlocksQuery,
): Promise<RecentBlocks> {
  const { size } = hintScans(world, chain);
  for (let tries = 0; tries < ATTEMPTS_MAX; tries += 1) {
    const range = lastBlocks(upTo, { wanted: size.blocks, most: blocksIn(world, chain, SCANNED) });
    try {
      const transfers = await reader.transfers(range, tokens, inboxes);
      size.adjust(range, transfers.length);
      return { transfers, mintSender: reader.mintSender };
    } catch (error) {
      if (!isRangeTooLarge(error)) throw error;
      if (!size.shrink(error.suggestion) || size.blocks < SCANNED_MIN) break;
    }
  }
  return { transfers: [], mintSender: reader.mintSender };
}

function lastBlocks(upTo: bigint, { wanted, most }: { wanted: bigint; most: bigint }): BlockRange {
  const blocks = wanted < SCANNED_MIN ? SCANNED_MIN : wanted > most ? most : wanted;
  return { fromBlock: upTo >= blocks ? upTo - blocks + 1n : 0n, toBlock: upTo };
}

/** The places of the candidates' transactions that hold a live movement of their inboxes. */
async function listRecordedPlaces(
  { db }: Pick<WatchWorld, "db">,
  { chain, candidates }: { chain: Caip2; candidates: readonly InboxTransfer[] },
): Promise<Set<string>> {
  const inboxes = [...new Set(candidates.map(({ inbox }) => inbox))];
  const { rows } = await sql<{ blockHash: string; place: bigint }>`
    select recorded.block_hash as "blockHash", recorded.place
    from unnest(${array(distinctChainTxs(candidates), "text")}) as asked (chain_tx) cross join lateral (
      select * from movement where movement.chain = ${chain} and movement.chain_tx = asked.chain_tx offset 0
    ) as recorded
    where recorded.inbox = any(${array(inboxes, "text")}) and recorded.orphaned_at is null`.execute(db.root);
  return new Set(rows.map(placeKey));
}

/** Those of the transactions with any recorded movement. */
async function listRecordedTxs(
  { db }: Pick<WatchWorld, "db">,
  { chain, chainTxs }: { chain: Caip2; chainTxs: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await sql<{ chainTx: string }>`/* named: list_recorded_txs */
    select asked.chain_tx as "chainTx" from unnest(${array(chainTxs, "text")}) as asked (chain_tx) cross join lateral (
      select from movement where movement.chain = ${chain} and movement.chain_tx = asked.chain_tx limit 1
    ) as recorded`.execute(db.root);
  return new Set(rows.map((row) => row.chainTx));
}

function placeKey({ blockHash, place }: { blockHash: string; place: bigint }): string {
  return `${blockHash}/${place}`;
}
