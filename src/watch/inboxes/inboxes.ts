import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import type { Caip2, Namespace } from "../../kernel/caip.ts";

// Queries of the watch station on inboxes.

/**
 * Inboxes in order of their numbers: at most `limit` above `seq`, and those with the given numbers. Returns two texts, all numbers and all
 * addresses, comma-separated, because rows cost this process seven times as much. An inbox of another namespace has an empty address, so
 * that its number is no gap.
 */
export async function readInboxesAfter(
  db: Db,
  page: { namespace: Namespace; seq: number; gapSeqs: readonly number[]; limit: number },
): Promise<{ seqs: string; addresses: string }> {
  const { namespace, seq, gapSeqs, limit } = page;
  const { rows } = await sql<{ seqs: string; addresses: string }>`/* named: read_inboxes_after */
    with beyond as (select seq, namespace, address from inbox where seq > ${seq}::int8 order by seq limit ${limit}::int8),
      found as (select * from beyond union all
        select seq, namespace, address from inbox where seq = any(${array(gapSeqs, "int8")}))
    select coalesce(string_agg(seq::text, ','), '') as seqs,
      coalesce(string_agg(case namespace when ${namespace} then address else '' end, ','), '') as addresses
    from found`.execute(db.root);
  return rows[0] ?? { seqs: "", addresses: "" };
}

/** Those of the addresses that are inboxes on a chain. */
export async function listInboxesAmong(db: Db, chain: Caip2, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`
    select address as inbox from inbox
    where address = any(${array(addresses, "text")}) and ${isInboxOnChain(chain)}`.execute(db.root);
  return new Set(rows.map((row) => row.inbox));
}
