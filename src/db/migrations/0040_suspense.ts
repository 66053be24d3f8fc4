import { sql, type Kysely } from "kysely";

// A mint whose burn is not known for an hour is in suspense: a settlement moves it, and the ledger books it from the suspense account, until the burn
// is found.

const statements: readonly string[] = [
  "alter table movement add column in_suspense boolean not null default false",
  "create index movement_in_suspense on movement (intent_id, chain, token) where in_suspense",
  "alter table holding add column suspense_units numeric(78,0) not null default 0",
  "alter table awaited_burn add column settle_chain text, add column suspended_at timestamptz",
  "update awaited_burn set settle_chain = movement.chain from movement where movement.id = awaited_burn.mint_id",
  "alter table awaited_burn alter column settle_chain set not null",
  "create index awaited_burn_unexplained on awaited_burn (settle_chain, unexplained_since) where suspended_at is null",
  "create index awaited_burn_suspended on awaited_burn (settle_chain, suspended_at) where suspended_at is not null",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
