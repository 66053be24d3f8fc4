import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import type { Caip2 } from "../../kernel/caip.ts";

// What the watch station reads of inboxes.

/**
 * Inboxes in the order of their numbers, at most `limit` of those beyond `seq`, and those among the named numbers. As two texts, of all
 * numbers with commas between them and of all addresses' hex digits: a row for each costs this process seven times that. Of an address
 * that belongs to no EVM chain the number comes too, so that it is no gap, with forty dashes as its digits.
 */
export async function readInboxesAfter(
  db: Db,
  { seq, gapSeqs, limit }: { seq: number; gapSeqs: readonly number[]; limit: number },
): Promise<{ seqs: string; hexes: string }> {
  const { rows } = await sql<{ seqs: string; hexes: string }>`/* named: read_inboxes_after */
    with beyond as (select seq, namespace, address from inbox where seq > ${seq}::int8 order by seq limit ${limit}::int8),
      found as (select * from beyond union all
        select seq, namespace, address from inbox where seq = any(${array(gapSeqs, "int8")}))
    select coalesce(string_agg(seq::text, ','), '') as seqs,
      coalesce(string_agg(case namespace when 'eip155' then substr(address, 3) else repeat('-', 40) end, ''), '') as hexes
    from found`.execute(db.root);
  return rows[0] ?? { seqs: "", hexes: "" };
}

/** Those of the addresses that are inboxes on a chain. */
export async function listInboxesAmong(db: Db, chain: Caip2, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`
    select address as inbox from inbox
    where address = any(${array(addresses, "text")}) and ${isInboxOnChain(chain)}`.execute(db.root);
  return new Set(rows.map((row) => row.inbox));
}
