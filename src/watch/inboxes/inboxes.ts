import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";

// What the watch station reads of intents.

/**
 * Inboxes of intents in the order in which they were made, at most `limit` of those beyond `seq`, and those among the named numbers. As
 * two texts, of all numbers with commas between them and of all addresses' hex digits: a row for each costs this process seven times that.
 */
export async function readInboxesAfter(
  db: Db,
  { seq, gapSeqs, limit }: { seq: number; gapSeqs: readonly number[]; limit: number },
): Promise<{ seqs: string; hexes: string }> {
  const { rows } = await sql<{ seqs: string; hexes: string }>`/* named: read_inboxes_after */
    with beyond as (select seq, inbox_address from intent where seq > ${seq}::int8 order by seq limit ${limit}::int8),
      found as (select * from beyond union all
        select seq, inbox_address from intent where seq = any(${array(gapSeqs, "int8")}))
    select coalesce(string_agg(seq::text, ','), '') as seqs,
      coalesce(string_agg(substr(inbox_address, 3), ''), '') as hexes from found`.execute(db.root);
  return rows[0] ?? { seqs: "", hexes: "" };
}

/** Those of the addresses that are inboxes, by the database's own word. */
export async function listInboxesAmong(db: Db, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`
    select inbox_address as inbox from intent where inbox_address = any(${array(addresses, "text")})`.execute(db.root);
  return new Set(rows.map((row) => row.inbox));
}
