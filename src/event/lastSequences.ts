import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";

/** The last sequence of each account that has one. A reader that knows it has missed nothing needs no further read. */
export async function readLastSequences(db: Db, accountIds: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ id: string; last: bigint }>`/* named: read_last_sequences */
    select account.id, event_counter.last_sequence as last
    from account join event_counter on event_counter.account_number = account.number
    where account.id = any(${array(accountIds, "text")})`.execute(db.root);
  return new Map(rows.map(({ id, last }) => [id, last]));
}
