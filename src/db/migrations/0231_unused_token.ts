import { sql, type Kysely } from "kysely";

// Up to which rows a token is known to be unused, so that a start reads only later ones.

const statements: readonly string[] = [
  `alter table served_token
    add unused_intent bigint,
    add unused_movement bigint,
    add constraint served_token_unused check ((unused_intent is null) = (unused_movement is null))`,
  `create index source_inbox_on_chain on source_inbox (((namespace || ':') || reference), token)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
