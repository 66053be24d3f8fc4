import { sql } from "kysely";
import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import type { ProviderFailed } from "../../chain/reader.ts";
import { array } from "../../db/parameters.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { highestOf, lowestOf } from "../../kernel/extremes.ts";
import { HINT_TTL_MS } from "../../view/registerView.ts";
import { listHintedInboxes } from "../../view/store.ts";
import { viewedAccountsTopic, viewing, watchTopic } from "../wakes.ts";
import { blocksIn, type BlockSpan } from "../blockTime.ts";
import { distinctChainTxs, type InboxTransfer } from "../movement.ts";
import { PARSED_LOGS_TARGET, RangeSize } from "../search/rangeSize.ts";
import { postponeDust } from "../postponed/postponeDust.ts";
import { listPostponedAmong } from "../postponed/postponedStore.ts";
import { readPart } from "../search/readPart.ts";
import { ONLY_ARRIVALS, searchTransfers } from "../search/searchTransfers.ts";
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
  if (chain.detection === "balances") {
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
  const inboxes = [...new Set(hints.map(({ inbox }) => inbox))];
  const tokens = [...new Set(hints.map(({ token }) => token))];
  const { size } = hintScans(world, chain);
  const most = blocksIn(world, chain, SCANNED);
  const toAccepted = () => lowestOf(most, highestOf(SCANNED_MIN, size.blocks));
  const shorten = (_: bigint, { suggestion }: ProviderFailed) =>
    size.shrink(suggestion) && size.blocks >= SCANNED_MIN ? toAccepted() : undefined;
  const options = { end: "newest", blocks: toAccepted(), attemptsMax: ATTEMPTS_MAX, shorten } as const;
  const found = await readPart({ fromBlock: 0n, toBlock: cursor.number }, options, (range) =>
    searchTransfers(world, chain, {
      read: async (reader) => {
        const transfers = await reader.transfers(range, tokens, inboxes);
        size.adjust(range, transfers.length);
        return transfers;
      },
      from: "last",
      // Payers do not wait for movements out, and a single provider is not enough for them.
      required: ONLY_ARRIVALS,
      parties: inboxes,
      skipsRecorded: true,
      select: (missing) => selectNew(world, chain, missing),
    }),
  );
  const recorded = found?.answer.recorded.length ?? 0;
  if (recorded > 0)
    world.log.warn({ chain: chain.caip2, recorded }, "a scan for a payer found a transfer that a provider had omitted");
}

/**
 * Without what waits already, and without the dust of very many transfers: anybody may open a payment page. A single
 * provider may add new transactions. Recorded or orphaned ones need several providers.
 */
async function selectNew(
  world: WatchWorld,
  { caip2: chain, readers: [reader] }: Chain,
  missing: readonly InboxTransfer[],
): Promise<readonly InboxTransfer[]> {
  const waiting = await listPostponedAmong(world.db, { chain, chainTxs: distinctChainTxs(missing) });
  const unstored = missing.filter(({ chainTx }) => !waiting.has(chainTx));
  const pressing = await postponeDust(world, { caip2: chain, mintSender: reader?.mintSender }, unstored);
  const recorded = await listRecordedTxs(world, { chain, chainTxs: distinctChainTxs(pressing) });
  return pressing.filter(({ chainTx }) => !recorded.has(chainTx));
}

/** Those of the transactions with any recorded movement. */
async function listRecordedTxs(
  { db }: Pick<WatchWorld, "db">,
  { chain, chainTxs }: { chain: Caip2; chainTxs: readonly string[] },
): Promise<Set<string>> {
  if (chainTxs.length === 0) return new Set();
  const { rows } = await sql<{ chainTx: string }>`/* named: list_recorded_txs */
    select asked.chain_tx as "chainTx" from unnest(${array(chainTxs, "text")}) as asked (chain_tx) cross join lateral (
      select from movement where movement.chain = ${chain} and movement.chain_tx = asked.chain_tx limit 1
    ) as recorded`.execute(db.root);
  return new Set(rows.map((row) => row.chainTx));
}
