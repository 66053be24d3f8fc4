import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import type { Caip2, Namespace } from "../../kernel/caip.ts";

// Queries of the watch station on inboxes.

export type InboxPage = {
  /** All numbers, comma-separated. */
  seqs: string;
  /** All addresses, comma-separated. An inbox of another namespace has an empty one, so that its number is no gap. */
  addresses: string;
  /** The row at `seq` as text; null where none has this number. */
  anchor: string | null;
  /** The same of the highest number of the page; null where it is empty. */
  lastAnchor: string | null;
};

/**
 * A number can be drawn again after a restore, and an address that follows from its intent can be stored again. The
 * time differs.
 */
const ANCHOR = sql.raw("namespace || ':' || address || ' ' || created_at::text");

/**
 * Inboxes in order of their numbers: at most `limit` above `seq`, and those with the given numbers. It returns texts,
 * because rows cost this process seven times as much.
 */
export async function readInboxesAfter(
  db: Db,
  page: { namespace: Namespace; seq: number; gapSeqs: readonly number[]; limit: number },
): Promise<InboxPage> {
  const { namespace, seq, gapSeqs, limit } = page;
  // A range with two ends: without statistics, one with a single end counts as a third of the table.
  const { rows } = await sql<InboxPage>`/* named: read_inboxes_after */
    with beyond as (select seq, namespace, address, created_at from inbox
        where seq > ${seq}::int8 and seq <= (select max(seq) from inbox) order by seq limit ${limit}::int8),
      found as (select * from beyond union all
        select seq, namespace, address, created_at from inbox where seq = any(${array(gapSeqs, "int8")}))
    select coalesce(string_agg(seq::text, ','), '') as seqs,
      coalesce(string_agg(case namespace when ${namespace} then address else '' end, ','), '') as addresses,
      (select ${ANCHOR} from inbox where seq = ${seq}::int8) as anchor,
      (select ${ANCHOR} from beyond order by seq desc limit 1) as "lastAnchor"
    from found`.execute(db.root);
  return rows[0] ?? { seqs: "", addresses: "", anchor: null, lastAnchor: null };
}

/** Those of the addresses that are inboxes on a chain. */
export async function listInboxesAmong(db: Db, chain: Caip2, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`
    select address as inbox from inbox
    where address = any(${array(addresses, "text")}) and ${isInboxOnChain(chain)}`.execute(db.root);
  return new Set(rows.map((row) => row.inbox));
}
