import { sql, type Selectable } from "kysely";
import type { Db } from "../../db/database.ts";
import { array, unnest } from "../../db/parameters.ts";
import type { UnreadableTable } from "../watchTables.ts";
import type { UnreadableEntry } from "../../chain/unreadable/unreadableEntry.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../../kernel/clock.ts";

// The rows of what cannot be read, and how many more there are. Every statement reads the open rows of one chain at
// most, which are limited.

export type UnreadableRow = Selectable<UnreadableTable>;

/** Rows of a chain. Strangers can make entries for the fee of a transaction, so more are only counted. */
const ROWS_MAX = 10_000;
const RETRY_MS_MIN = 60_000;
const RETRY_MS_MAX = 24 * 3_600_000;
/** While only one of several providers has answered. */
const ALONE_RETRY_MS_MAX = 5 * 60_000;
/** Rows of one statement. */
const INSERTED_MAX = 1_000;
/** Inboxes stored with a row. A transaction names fewer. */
const INBOXES_MAX = 64;

/** Those of the subjects that have a row. */
export async function listKnownSubjects(
  db: Db,
  { chain, subjects }: { chain: Caip2; subjects: readonly string[] },
): Promise<Set<string>> {
  if (subjects.length === 0) return new Set();
  const { rows } = await sql<{ subject: string }>`/* named: known_unreadable */
    select subject from unreadable
    where chain = ${chain} and subject = any(${array(subjects, "text")})`.execute(db.root);
  return new Set(rows.map(({ subject }) => subject));
}

/** Those of the transactions that a row names. Reads the rows of the chain. */
export async function listUnreadableTxs(
  db: Db,
  { chain, chainTxs }: { chain: Caip2; chainTxs: readonly string[] },
): Promise<Set<string>> {
  if (chainTxs.length === 0) return new Set();
  const { rows } = await sql<{ chainTx: string }>`/* named: unreadable_txs */
    select distinct chain_tx as "chainTx" from unreadable
    where chain = ${chain} and chain_tx = any(${array(chainTxs, "text")})`.execute(db.root);
  return new Set(rows.map(({ chainTx }) => chainTx));
}

export type NewUnreadable = { entry: UnreadableEntry; inboxes: readonly string[]; providers: readonly string[] };

/**
 * Stores a row for each entry while the chain has room, the ones that name an inbox first, and counts the others.
 * Returns the number of rows.
 */
export async function insertUnreadable(
  db: Db,
  { chain, found, at }: { chain: Caip2; found: readonly NewUnreadable[]; at: Date },
): Promise<number> {
  if (found.length === 0) return 0;
  return db.transaction(async (tx) => {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from unreadable where chain = ${chain}`.execute(tx);
    const room = Math.max(0, ROWS_MAX - Number(rows[0]?.count ?? 0n));
    const ordered = found.toSorted(
      (one, other) => Number(one.inboxes.length === 0) - Number(other.inboxes.length === 0),
    );
    const stored = ordered.slice(0, room).map((each) => toRow(chain, each, at));
    for (let start = 0; start < stored.length; start += INSERTED_MAX)
      await tx
        .insertInto("unreadable")
        .values(stored.slice(start, start + INSERTED_MAX))
        .onConflict((conflict) =>
          conflict.columns(["chain", "subject"]).doUpdateSet({ last_seen_at: at, inboxes: mergedInboxes("excluded") }),
        )
        .execute();
    const leftOut = ordered.length - stored.length;
    if (leftOut > 0)
      await sql`
        insert into unreadable_overflow (chain, left_out, last_seen_at) values (${chain}, ${leftOut}, ${at})
        on conflict (chain) do update set left_out = unreadable_overflow.left_out + excluded.left_out,
          last_seen_at = excluded.last_seen_at`.execute(tx);
    return stored.length;
  });
}

function toRow(chain: Caip2, { entry, inboxes, providers }: NewUnreadable, at: Date) {
  return {
    chain,
    subject: entry.key,
    kind: entry.kind,
    chain_tx: entry.chainTx ?? null,
    block_number: entry.blockNumber ?? null,
    place: entry.place ?? null,
    inboxes: inboxes.slice(0, INBOXES_MAX),
    names_program: entry.namesProgram,
    reason: entry.reason,
    providers: providers.join(", "),
    first_seen_at: at,
    last_seen_at: at,
    retry_at: addMs(at, RETRY_MS_MIN),
  };
}

/** SQL for the inboxes of a row and of another, each once. */
const mergedInboxes = (other: string) => sql<string[]>`
  (array(select distinct unnest(unreadable.inboxes || ${sql.ref(`${other}.inboxes`)})))[1:${sql.lit(INBOXES_MAX)}]`;

/** Adds inboxes to rows that do not name them yet, as far as a row has room. */
export async function addUnreadableInboxes(
  db: Db,
  { chain, named }: { chain: Caip2; named: readonly { subject: string; inbox: string }[] },
): Promise<void> {
  if (named.length === 0) return;
  await sql`/* named: name_unreadable */
    update unreadable set inboxes = ${mergedInboxes("added")}
    from (
      select subject, array_agg(distinct inbox) as inboxes from ${unnest("named", named, { subject: "text", inbox: "text" })} group by subject
    ) as added
    where unreadable.chain = ${chain} and unreadable.subject = added.subject and not unreadable.inboxes @> added.inboxes`.execute(
    db.root,
  );
}

/** Claims the rows that have been due for the longest time, until a time. */
export async function claimUnreadable(
  db: Db,
  { chain, at, until, limit }: { chain: Caip2; at: Date; until: Date; limit: number },
): Promise<UnreadableRow[]> {
  const tooLate = addMs(at, RETRY_MS_MAX + CLOCK_DIFFERENCE_MS_MAX);
  const { rows } = await sql<UnreadableRow>`/* named: claim_unreadable */
    update unreadable set retry_at = ${until}
    where chain = ${chain} and subject = any(array(
      select subject from unreadable where chain = ${chain} and (retry_at <= ${at} or retry_at > ${tooLate})
      order by retry_at limit ${limit} for update skip locked))
    returning *`.execute(db.root);
  return rows;
}

/** A row that is still unreadable, and who cannot parse it. */
export type StillUnreadable = { subject: string; providers: readonly string[] };

/**
 * Postpones rows that are still unreadable: by a minute at first, then twice as long each time, up to a day. What fewer
 * than `needed` providers say is asked of the others more often, because nobody else has vouched for it.
 */
export async function postponeUnreadable(
  db: Db,
  { chain, rows, needed, at }: { chain: Caip2; rows: readonly StillUnreadable[]; needed: number; at: Date },
): Promise<void> {
  if (rows.length === 0) return;
  const tried = rows.map(({ subject, providers }) => ({
    subject,
    providers: providers.join(", "),
    max_ms: providers.length < needed ? ALONE_RETRY_MS_MAX : RETRY_MS_MAX,
  }));
  const minMs = RETRY_MS_MIN;
  await sql`/* named: postpone_unreadable */
    update unreadable set tries = tries + 1, last_seen_at = ${at},
      providers = coalesce(nullif(tried.providers, ''), unreadable.providers),
      retry_at = ${at}::timestamptz + least(tried.max_ms::float8, ${minMs}::float8 * power(2, least(tries + 1, 20))) * interval '1 millisecond'
    from ${unnest("tried", tried, { subject: "text", providers: "text", max_ms: "int8" })}
    where unreadable.chain = ${chain} and unreadable.subject = tried.subject`.execute(db.root);
}

export async function deleteUnreadable(
  db: Db,
  { chain, subjects }: { chain: Caip2; subjects: readonly string[] },
): Promise<void> {
  if (subjects.length === 0) return;
  await sql`/* named: delete_unreadable */
    delete from unreadable where chain = ${chain} and subject = any(${array(subjects, "text")})`.execute(db.root);
  await sql`delete from unreadable_overflow where chain = ${chain}
    and not exists (select from unreadable where chain = ${chain})`.execute(db.root);
}

/**
 * Those of the inboxes that an open row names. What they hold cannot be explained completely, so a difference of theirs
 * decides nothing.
 */
export async function listUnreadableInboxes(
  db: Db,
  { chain, inboxes }: { chain: Caip2; inboxes: readonly string[] },
): Promise<Set<string>> {
  if (inboxes.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`/* named: unreadable_inboxes */
    select distinct named.inbox from unreadable cross join unnest(unreadable.inboxes) as named (inbox)
    where unreadable.chain = ${chain} and unreadable.inboxes && ${array(inboxes, "text")}
      and named.inbox = any(${array(inboxes, "text")})`.execute(db.root);
  return new Set(rows.map(({ inbox }) => inbox));
}

/** SQL for whether an open row names an inbox of a holding: not everything that moved there is recorded. */
export const isNamedByUnreadable = (holding: string) => sql<boolean>`exists (
  select from inbox join unreadable on unreadable.inboxes @> array[inbox.address]
  where inbox.intent_id = ${sql.ref(`${holding}.intent_id`)} and unreadable.chain = ${sql.ref(`${holding}.chain`)})`;

export type UnreadableCount = {
  chain: Caip2;
  rows: bigint;
  /** Rows that name an inbox. */
  inboxRows: bigint;
  /** Entries without a row, because the chain had too many. */
  leftOut: bigint;
  since: Date;
  /** The reason and an inbox of the oldest row. */
  reason: string;
  inbox: string | null;
};

/** The open rows of each chain. */
export async function countUnreadable(db: Db): Promise<UnreadableCount[]> {
  const { rows } = await sql<UnreadableCount>`
    select unreadable.chain, count(*) as rows, count(*) filter (where inboxes <> '{}') as "inboxRows",
      coalesce(max(overflow.left_out), 0) as "leftOut", min(first_seen_at) as since,
      (array_agg(reason order by first_seen_at, subject))[1] as reason,
      (array_agg(inboxes[1] order by first_seen_at, subject) filter (where inboxes <> '{}'))[1] as inbox
    from unreadable left join unreadable_overflow overflow on overflow.chain = unreadable.chain
    group by unreadable.chain order by unreadable.chain`.execute(db.root);
  return rows;
}
