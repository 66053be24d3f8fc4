import { sql, type RawBuilder } from "kysely";
import type { Db } from "../../../src/db/database.ts";
import { array } from "../../../src/db/parameters.ts";
import { insertIntent, insertMissingInboxes } from "../../support/intents.ts";
import { inboxAt, INBOXES } from "../backfillNode.ts";

/** Inserts an otherwise equal intent for each of the 100,000 inboxes. */
export async function insertInboxes(db: Db): Promise<void> {
  const { id } = await insertIntent(db, { inbox_address: inboxAt(0) });
  const inboxes = Array.from({ length: INBOXES - 1 }, (_, index) => inboxAt(index + 1));
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns where table_name = 'intent' and is_identity = 'NO'`.execute(
    db.root,
  );
  const columns = rows.map((row) => row.name);
  const values: Readonly<Record<string, RawBuilder<unknown>>> = {
    id: sql`'pi_' || inbox`,
    inbox_address: sql`inbox`,
    widget_token_hash: sql`sha256(inbox::bytea)`,
  };
  await sql`
    insert into intent (${sql.join(columns.map((name) => sql.ref(name)))})
    select ${sql.join(columns.map((name) => values[name] ?? sql.ref(`intent.${name}`)))}
    from intent, unnest(${array(inboxes, "text")}) as made (inbox) where intent.id = ${id}`.execute(db.root);
  await insertMissingInboxes(db);
  await sql`analyze intent, inbox`.execute(db.root);
}

/** Deletes the last run's rows, including rows that triggers protect. */
export async function resetRecordedState(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    const ledgerTables = ["ledger_posting", "ledger_entry", "ledger_balance"];
    for (const table of ledgerTables) await sql`alter table ${sql.ref(table)} disable trigger user`.execute(tx);
    await sql`
      truncate movement, block, chain_cursor, deposit, deposit_agreement, settlement, ${sql.raw(ledgerTables.join(", "))} cascade`.execute(
      tx,
    );
    for (const table of ledgerTables) await sql`alter table ${sql.ref(table)} enable trigger user`.execute(tx);
  });
}
