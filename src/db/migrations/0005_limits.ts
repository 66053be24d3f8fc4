import { sql, type Kysely } from "kysely";

// How often somebody has called, where several processes count together. A row holds, for each call that still counts, the millisecond
// (of the database's own clock) until which it does. It says what the last taking of calls got, and who took them.
//
// The table is not logged: what it holds is worthless after a minute, and a call that is merely counted does not wait for a disk. After
// a crash of the database server the counting begins anew.

const statements: readonly string[] = [
  `create unlogged table rate_log (
    key text primary key,
    counted_until_ms bigint[] not null,
    granted int not null check (granted >= 0),
    granted_until_ms bigint not null,
    holder text not null
  ) with (fillfactor = 50)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
