import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { isDue } from "../../db/due.ts";
import { POSTPONED_REASON } from "../unreadable/unreadableStore.ts";

// Transactions whose transfers wait because they are dust and very many. They are rows of `unreadable` too: what their inboxes hold cannot be
// explained completely until they are recorded.

/** Rows of a chain. Transactions beyond them are recorded with their block. */
const ROWS_MAX = 2_000;
/** Inboxes stored with a row. A transaction with more is recorded with its block. */
const INBOXES_MAX = 64;
/** The payments that arrive with them are settled meanwhile. */
const WAIT_MS = 3_000;
/** A process that ends keeps its rows for this long. */
const CLAIM_MS = 60_000;

export type PostponedTransaction = { chainTx: string; blockNumber: bigint; inboxes: readonly string[] };

/** Stores the transactions for which the chain has room. Returns their hashes. A transaction that moved to another block waits there. */
export async function insertPostponed(
  db: Db,
  { chain, found, at }: { chain: Caip2; found: readonly PostponedTransaction[]; at: Date },
): Promise<Set<string>> {
  const fitting = found.filter(({ inboxes }) => inboxes.length <= INBOXES_MAX);
  if (fitting.length === 0) return new Set();
  const { rows } = await sql<{ subject: string }>`/* named: insert_postponed */
    with room as (select greatest(0, ${ROWS_MAX}::int8 - count(*)) as units from unreadable where chain = ${chain})
    insert into unreadable (chain, subject, kind, chain_tx, block_number, inboxes, names_program, reason, providers,
      first_seen_at, last_seen_at, retry_at)
    select ${chain}, found.chain_tx, 'transaction', found.chain_tx, found.block_number, string_to_array(found.inboxes, ','), false,
      ${POSTPONED_REASON}, '', ${at}::timestamptz, ${at}::timestamptz, ${addMs(at, WAIT_MS)}::timestamptz
    from unnest(${array(
      fitting.map(({ chainTx }) => chainTx),
      "text",
    )}, ${array(
      fitting.map(({ blockNumber }) => blockNumber),
      "int8",
    )}, ${array(
      fitting.map(({ inboxes }) => inboxes.join(",")),
      "text",
    )}) with ordinality as found (chain_tx, block_number, inboxes, place) join room on found.place <= room.units
    on conflict (chain, subject) do update set block_number = excluded.block_number, inboxes = excluded.inboxes,
      last_seen_at = excluded.last_seen_at, retry_at = excluded.retry_at
    where unreadable.reason = excluded.reason
    returning subject`.execute(db.root);
  return new Set(rows.map(({ subject }) => subject));
}

export type PostponedRow = { chainTx: string; blockNumber: bigint };

/** Claims the due rows of the lowest block up to `upTo`. */
export async function claimPostponed(
  db: Db,
  { chain, upTo, at, limit }: { chain: Caip2; upTo: bigint; at: Date; limit: number },
): Promise<PostponedRow[]> {
  const due = sql`chain = ${chain} and reason = ${POSTPONED_REASON} and block_number <= ${upTo}
    and ${isDue("retry_at", { now: at, waitMsMax: CLAIM_MS })}`;
  const { rows } = await sql<PostponedRow>`/* named: claim_postponed */
    update unreadable set retry_at = ${addMs(at, CLAIM_MS)}
    where chain = ${chain} and subject = any(array(
      select subject from unreadable where ${due} and block_number = (select min(block_number) from unreadable where ${due})
      order by subject limit ${limit} for update skip locked))
    returning chain_tx as "chainTx", block_number as "blockNumber"`.execute(db.root);
  return rows;
}

/** The lowest block with a transaction that waits. */
export async function findLowestPostponed(db: Db, chain: Caip2): Promise<bigint | undefined> {
  const { rows } = await sql<{ lowest: bigint | null }>`/* named: lowest_postponed */
    select min(block_number) as lowest from unreadable where chain = ${chain} and reason = ${POSTPONED_REASON}`.execute(
    db.root,
  );
  return rows[0]?.lowest ?? undefined;
}

export async function deletePostponed(
  db: Db,
  { chain, chainTxs }: { chain: Caip2; chainTxs: readonly string[] },
): Promise<void> {
  await sql`/* named: delete_postponed */
    delete from unreadable where chain = ${chain} and subject = any(${array(chainTxs, "text")})
      and reason = ${POSTPONED_REASON}`.execute(db.root);
}
