import { sql } from "kysely";
import type { Db } from "../../../src/db/database.ts";
import { array } from "../../../src/db/parameters.ts";
import { insertMissingInboxes } from "../../support/intents.ts";

/** Copies each intent once per number; the copies occupy no destination. */
export async function copyIntents(
  db: Db,
  intentIds: readonly string[],
  { from, to }: { from: number; to: number },
): Promise<void> {
  const { rows } = await sql<{ names: string }>`
    select string_agg(quote_ident(column_name), ', ' order by ordinal_position) as names from information_schema.columns
    where table_name = 'intent' and column_name not in ('seq', 'id', 'inbox_address', 'inbox_salt', 'widget_token_hash', 'occupies')`.execute(
    db.root,
  );
  const names = sql.raw(rows[0]?.names ?? "");
  const ids = array(intentIds, "text");
  await sql`
    insert into intent (id, inbox_address, inbox_salt, widget_token_hash, occupies, ${names})
    select 'pi_' || substr(md5('i' || id || n), 1, 26), '0x' || substr(md5('a' || id || n) || md5('b' || id || n), 1, 40),
      '0x' || md5('s' || id || n) || md5('t' || id || n), decode(md5('w' || id || n) || md5('x' || id || n), 'hex'), false, ${names}
    from intent cross join generate_series(${from}::int, ${to}::int) as n where id = any(${ids})`.execute(db.root);
  await insertMissingInboxes(db);
}
