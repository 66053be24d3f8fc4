import { sql, type RawBuilder } from "kysely";
import { openDatabase, type Db } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { insertIntent, insertMissingInboxes } from "../../support/intents.ts";
import { inboxAt } from "../backfillNode.ts";

/** Rows per statement, far below the statement timeout. */
const ROWS_AT_ONCE = 10_000;

/**
 * Creates the schema and an otherwise equal intent for each inbox from `inboxAt(known)` to `inboxAt(count - 1)`;
 * `known` inboxes already exist.
 */
export async function fillWithInboxes(url: string, count: number, known = 0): Promise<void> {
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  await migrate(db, { appliedAt: new Date("2026-01-01T00:00:00Z") });
  const { id } =
    known === 0
      ? await insertIntent(db, { inbox_address: inboxAt(0) })
      : await db.root.selectFrom("intent").select("id").orderBy("seq").limit(1).executeTakeFirstOrThrow();
  const names = await columnsOf(db);
  const values: Readonly<Record<string, RawBuilder<unknown>>> = {
    id: sql`'pi_' || made.inbox`,
    inbox_address: sql`made.inbox`,
    widget_token_hash: sql`sha256(made.inbox::bytea)`,
  };
  for (let from = Math.max(known, 1); from < count; from += ROWS_AT_ONCE) {
    const to = Math.min(from + ROWS_AT_ONCE, count) - 1;
    await sql`
      insert into intent (${sql.join(names.map((name) => sql.ref(name)))})
      select ${sql.join(names.map((name) => values[name] ?? sql.ref(`intent.${name}`)))}
      from intent, (select '0x' || left(encode(sha256(('inbox ' || n)::bytea), 'hex'), 40)
        from generate_series(${from}::int, ${to}::int) as n) as made (inbox)
      where intent.id = ${id}`.execute(db.root);
  }
  await insertMissingInboxes(db);
  await sql`vacuum (analyze) intent, inbox`.execute(db.root);
  await db.close();
}

async function columnsOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns where table_name = 'intent' and is_identity = 'NO'`.execute(
    db.root,
  );
  return rows.map((row) => row.name);
}
