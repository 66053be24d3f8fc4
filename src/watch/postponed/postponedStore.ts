import { sql, type RawBuilder } from "kysely";
import type { Db } from "../../db/database.ts";
import { isDue } from "../../db/due.ts";
import { array } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";

// The rows of transactions that are recorded later. Every statement reads the rows of one chain at most, which are
// limited.

/** Rows of a chain. Transactions beyond them are recorded with their block. */
const ROWS_MAX = 2_000;
/** Inboxes stored with a row. A transaction that pays more is recorded with its block. */
const INBOXES_MAX = 64;
/** The payments that arrive with them are settled meanwhile. */
const WAIT_MS = 3_000;
/** A process that ends keeps its rows for this long. */
const CLAIM_MS = 60_000;

export type PostponedTransaction = { chainTx: string; blockNumber: bigint; inboxes: readonly string[] };

/**
 * Stores the transactions for which the chain has room. Returns their hashes. A transaction that moved to another block
 * waits there.
 */
export async function insertPostponed(
  db: Db,
  { chain, found, at }: { chain: Caip2; found: readonly PostponedTransaction[]; at: Date },
): Promise<Set<string>> {
  const fitting = found.filter(({ inboxes }) => inboxes.length <= INBOXES_MAX);
  if (fitting.length === 0) return new Set();
  const columns = {
    chainTxs: fitting.map(({ chainTx }) => chainTx),
    blockNumbers: fitting.map(({ blockNumber }) => blockNumber),
    inboxes: fitting.map(({ inboxes }) => inboxes.join(",")),
  };
  const { rows } = await sql<{ chainTx: string }>`/* named: insert_postponed */
    with room as (select greatest(0, ${ROWS_MAX}::int8 - count(*)) as units from postponed where chain = ${chain})
    insert into postponed (chain, chain_tx, block_number, inboxes, first_seen_at, retry_at)
    select ${chain}, found.chain_tx, found.block_number, string_to_array(found.inboxes, ','),
      ${at}::timestamptz, ${addMs(at, WAIT_MS)}::timestamptz
    from unnest(${array(columns.chainTxs, "text")}, ${array(columns.blockNumbers, "int8")}, ${array(columns.inboxes, "text")})
      with ordinality as found (chain_tx, block_number, inboxes, place) join room on found.place <= room.units
    on conflict (chain, chain_tx) do update set block_number = excluded.block_number, inboxes = excluded.inboxes,
      retry_at = excluded.retry_at
    returning chain_tx as "chainTx"`.execute(db.root);
  return new Set(rows.map(({ chainTx }) => chainTx));
}

export type PostponedRow = { chainTx: string; blockNumber: bigint };

/** Claims the due rows of the lowest block up to `upTo`. */
export async function claimPostponed(
  db: Db,
  { chain, upTo, at, limit }: { chain: Caip2; upTo: bigint; at: Date; limit: number },
): Promise<PostponedRow[]> {
  const due = sql`chain = ${chain} and block_number <= ${upTo} and ${isDue("retry_at", { now: at, waitMsMax: CLAIM_MS })}`;
  const { rows } = await sql<PostponedRow>`/* named: claim_postponed */
    update postponed set retry_at = ${addMs(at, CLAIM_MS)}
    where chain = ${chain} and chain_tx = any(array(
      select chain_tx from postponed where ${due} and block_number = (select min(block_number) from postponed where ${due})
      order by chain_tx limit ${limit} for update skip locked))
    returning chain_tx as "chainTx", block_number as "blockNumber"`.execute(db.root);
  return rows;
}

/** Deletes rows that are recorded, as far as no reading has moved them to another block meanwhile. */
export async function deletePostponed(
  db: Db,
  { chain, blockNumber, chainTxs }: { chain: Caip2; blockNumber: bigint; chainTxs: readonly string[] },
): Promise<void> {
  if (chainTxs.length === 0) return;
  await sql`/* named: delete_postponed */
    delete from postponed where chain = ${chain} and chain_tx = any(${array(chainTxs, "text")})
      and block_number = ${blockNumber}`.execute(db.root);
}

/** The lowest block with a transaction that waits. */
export async function findLowestPostponed(db: Db, chain: Caip2): Promise<bigint | undefined> {
  const { rows } = await sql<{ lowest: bigint | null }>`/* named: lowest_postponed */
    select min(block_number) as lowest from postponed where chain = ${chain}`.execute(db.root);
  return rows[0]?.lowest ?? undefined;
}

/** Those of the transactions that wait. */
export async function listPostponedAmong(
  db: Db,
  { chain, chainTxs }: { chain: Caip2; chainTxs: readonly string[] },
): Promise<Set<string>> {
  if (chainTxs.length === 0) return new Set();
  const { rows } = await sql<{ chainTx: string }>`/* named: postponed_among */
    select chain_tx as "chainTx" from postponed
    where chain = ${chain} and chain_tx = any(${array(chainTxs, "text")})`.execute(db.root);
  return new Set(rows.map(({ chainTx }) => chainTx));
}

/** Those of the inboxes that a waiting transaction paid: they hold more than what is recorded. */
export async function listPostponedInboxes(
  db: Db,
  { chain, inboxes }: { chain: Caip2; inboxes: readonly string[] },
): Promise<Set<string>> {
  if (inboxes.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`/* named: postponed_inboxes */
    select distinct named.inbox from postponed cross join unnest(postponed.inboxes) as named (inbox)
    where postponed.chain = ${chain} and postponed.inboxes && ${array(inboxes, "text")}
      and named.inbox = any(${array(inboxes, "text")})`.execute(db.root);
  return new Set(rows.map(({ inbox }) => inbox));
}

/** SQL for the rows that name an inbox of an intent on a chain. */
const namingRows = ({ intentId, chain }: { intentId: RawBuilder<unknown>; chain: RawBuilder<unknown> }) => sql`
  from inbox join postponed on postponed.inboxes @> array[inbox.address]
  where inbox.intent_id = ${intentId} and postponed.chain = ${chain}`;

/** SQL for the lowest block whose dust waits for an intent on a chain; null without one. */
export const lowestPostponedOf = (named: { intentId: RawBuilder<unknown>; chain: RawBuilder<unknown> }) =>
  sql<bigint | null>`(select min(postponed.block_number) ${namingRows(named)})`;

/** SQL for whether dust waits for the intent of a holding in blocks up to one. */
export const isPostponedUpTo = (holding: string, block: RawBuilder<unknown>) => sql<boolean>`
  exists (select ${namingRows({ intentId: sql.ref(`${holding}.intent_id`), chain: sql.ref(`${holding}.chain`) })}
    and postponed.block_number <= ${block})`;

/** `block` and `chainTx`: of one in the lowest block. */
export type PostponedCount = { chain: Caip2; rows: bigint; since: Date; block: bigint; chainTx: string };

/** The waiting transactions of each chain that wait since a time or longer. */
export async function countPostponed(db: Db, { before }: { before: Date }): Promise<PostponedCount[]> {
  const { rows } = await sql<PostponedCount>`
    select chain, count(*) as rows, min(first_seen_at) as since, min(block_number) as block,
      (array_agg(chain_tx order by block_number, chain_tx))[1] as "chainTx" from postponed
    where first_seen_at < ${before} group by chain order by chain`.execute(db.root);
  return rows;
}
