import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { DueAccount } from "../../priming/store.ts";
import { isOpenSettlement } from "../../deposit/openSettlement.ts";

/** The ids of those accounts whose inbox has counted money, an open settlement, or a crossing on its way to it. Reads open rows alone. */
export async function listInboxesInUse(db: Db, accounts: readonly DueAccount[]): Promise<ReadonlySet<bigint>> {
  const column = (read: (row: DueAccount["row"]) => string) => accounts.map(({ row }) => read(row));
  const { rows } = await sql<{ id: bigint }>`
    select account.id from unnest(${array(
      accounts.map(({ row }) => row.id),
      "int8",
    )}, ${array(
      column((row) => row.chain),
      "text",
    )}, ${array(
      column((row) => row.intent_id),
      "text",
    )}, ${array(
      column((row) => row.token),
      "text",
    )}) as account (id, chain, intent_id, token)
    where exists (select from settlement where settlement.intent_id = account.intent_id and settlement.chain = account.chain
        and settlement.token = account.token and ${isOpenSettlement("settlement")})
      or exists (select from settlement where settlement.intent_id = account.intent_id and settlement.chain <> account.chain
        and settlement.status = 'bridging')
      or exists (select from holding where holding.intent_id = account.intent_id and holding.chain = account.chain
        and holding.token = account.token and holding.unswept_units > 0)`.execute(db.root);
  return new Set(rows.map(({ id }) => id));
}
