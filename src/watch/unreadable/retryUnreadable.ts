import { watchedTokens } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type ChainReader, type Transfer } from "../../chain/reader.ts";
import type { UnreadableEntry } from "../../chain/unreadable/unreadableEntry.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../../kernel/clock.ts";
import { ONLY_ARRIVALS, searchTransfers, twoProviders } from "../search/searchTransfers.ts";
import { readTransaction } from "../search/readTransaction.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { findCursor, type CursorRow } from "../store/store.ts";
import { askVerdicts, countVerdicts } from "./acceptUnreadable.ts";
import { claimUnreadable, deleteUnreadable, postponeUnreadable, type UnreadableRow } from "./unreadableStore.ts";

// Tries again what could not be parsed: a provider, or this service, may have been upgraded. What is readable now is
// recorded as any other transfer that was found late, and its row ends.

/** Rows in one step: one batch for each provider. */
const ROWS_AT_A_TIME = 25;
/** A process that ends keeps its rows for this long. */
const CLAIM_MS = 120_000;

/** Tries the rows that are due. Returns whether more may be due. */
export async function retryUnreadable(world: WatchWorld, chain: Chain): Promise<boolean> {
  const at = world.clock.now();
  const cursor = await findCursor(world.db, chain.caip2);
  if (cursor === undefined) return false;
  const claim = { chain: chain.caip2, at, until: addMs(at, CLAIM_MS), limit: ROWS_AT_A_TIME };
  const rows = await claimUnreadable(world.db, claim);
  if (rows.length === 0) return false;
  const replies = await askVerdicts(chain, rows.map(toEntry));
  // Without an answer nothing was tried; the claim ends by itself.
  if (replies.length === 0) return false;
  const ended = await tryRows(world, chain, { rows, cursor, replies });
  const gone = rows.map(({ subject }) => subject).filter((each) => ended.has(each));
  const left = rows
    .filter(({ subject }) => !ended.has(subject))
    .map((row) => ({
      subject: row.subject,
      providers: countVerdicts(replies, toEntry(row)).providers,
    }));
  await deleteUnreadable(world.db, { chain: chain.caip2, subjects: gone });
  for (const subject of gone) chain.providers.skipped.delete(subject);
  const needed = twoProviders(chain);
  await postponeUnreadable(world.db, { chain: chain.caip2, rows: left, needed, at: world.clock.now() });
  return rows.length === ROWS_AT_A_TIME;
}

type DueRows = { rows: readonly UnreadableRow[]; cursor: CursorRow; replies: Awaited<ReturnType<typeof askVerdicts>> };

/** The subjects whose rows end: their transfers are recorded, or the chain does not hold them any more. */
async function tryRows(world: WatchWorld, chain: Chain, { rows, cursor, replies }: DueRows): Promise<Set<string>> {
  const needed = twoProviders(chain);
  const ended = new Set<string>();
  for (const row of rows) {
    const verdicts = replies.flatMap(({ provider, verdicts: each }) => {
      const state = each.get(row.subject)?.state;
      return state === undefined ? [] : [{ provider, state }];
    });
    const readers = verdicts.filter(({ state }) => state === "readable").map(({ provider }) => provider);
    const isGone = verdicts.length >= needed && verdicts.every(({ state }) => state === "unknown");
    // A transaction whose block was replaced may come back until its old block would be final.
    if (isGone && (row.block_number ?? 0n) <= cursor.finalized_number) ended.add(row.subject);
    else if (readers.length > 0 && (await tryRecord(world, chain, { row, readers, needed, cursor })))
      ended.add(row.subject);
  }
  return ended;
}

function toEntry(row: UnreadableRow): UnreadableEntry {
  return {
    key: row.subject,
    kind: row.kind,
    chainTx: row.chain_tx ?? undefined,
    blockNumber: row.block_number ?? undefined,
    place: row.place ?? undefined,
    reason: row.reason,
    names: row.inboxes,
    namesProgram: row.names_program,
  };
}

type Readable = { row: UnreadableRow; readers: readonly string[]; needed: number; cursor: CursorRow };

/** Records the transfers of a transaction. One that fails delays no other row. */
async function tryRecord(world: WatchWorld, chain: Chain, readable: Readable): Promise<boolean> {
  try {
    return await recordTransaction(world, chain, readable);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const { caip2 } = chain;
    const fields = { chain: caip2, subject: readable.row.subject, err: error };
    const message = "a transaction that can be parsed now could not be read completely; it is tried again";
    warnRepeated(world, { key: `unreadable again ${caip2} ${error.kind}`, fields, message });
    return false;
  }
}

/** The transfers of a row's transaction, or of its block where the log named no transaction; undefined above `upTo`. */
async function readRow(
  reader: ChainReader,
  { chain_tx: chainTx, block_number: blockNumber }: UnreadableRow,
  asked: { tokens: readonly string[]; upTo: bigint },
): Promise<readonly Transfer[] | undefined> {
  if (chainTx !== null) {
    const { proof, transfers } = await readTransaction(reader, chainTx, asked);
    return proof === undefined || proof.blockNumber > asked.upTo ? undefined : transfers;
  }
  if (blockNumber === null || blockNumber > asked.upTo) return undefined;
  return reader.transfers({ fromBlock: blockNumber, toBlock: blockNumber }, asked.tokens);
}

/** Returns whether everything that it moved is recorded. */
async function recordTransaction(
  world: WatchWorld,
  chain: Chain,
  { row, readers, needed, cursor }: Readable,
): Promise<boolean> {
  // An account is compared again by the pass over all balances.
  if (row.kind === "account") return true;
  const tokens = watchedTokens(world.catalog, chain.caip2);
  // A movement out makes a settlement look landed, so a second provider must read it alike, where there is one.
  const isOnlyIncoming = readers.length < needed;
  let isThere = false;
  const { recorded, agreeing } = await searchTransfers(world, chain, {
    read: async (reader) => {
      const transfers = await readRow(reader, row, { tokens, upTo: cursor.number });
      isThere ||= transfers !== undefined;
      return transfers ?? [];
    },
    from: { named: readers },
    required: isOnlyIncoming ? ONLY_ARRIVALS : { in: 1, out: needed },
  });
  if (!isThere) return false;
  if (recorded.length > 0)
    world.log.info(
      { chain: chain.caip2, subject: row.subject, providers: readers, recorded: recorded.length },
      "a transaction that could not be read is recorded now",
    );
  return !isOnlyIncoming && agreeing >= needed;
}
