import { sql, type Kysely } from "kysely";

// Inboxes that are scanned sooner.

const statements: readonly string[] = [
  `create table view_hint (
    intent_id text not null,
    namespace text not null,
    reference text not null,
    token text not null,
    expires_at timestamptz not null,
    constraint view_hint_pkey primary key (intent_id, namespace, reference, token),
    constraint view_hint_intent_id_fkey foreign key (intent_id) references intent(id)
  )`,
  `create index view_hint_expiry on view_hint (expires_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
