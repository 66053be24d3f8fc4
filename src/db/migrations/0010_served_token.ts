import { sql, type Kysely } from "kysely";

// What was ever configured. An intent pins its token for good and payers keep addresses, so a token that is taken out of the configuration
// would leave money unseen that still comes in: a start that lacks one must be able to know of it without reading all intents.

const statements: readonly string[] = [
  `create table served_token (
    chain text not null,
    token text not null,
    symbol text not null,
    since timestamptz not null,
    primary key (chain, token)
  )`,
  // Of what was there before, only what money depends on is known, and no symbol.
  `insert into served_token (chain, token, symbol, since)
    select chain, token, '', min(at) from (
      select payout_namespace || ':' || payout_chain_reference as chain, payout_token as token, created_at as at from intent
      union all select chain, token, seen_at from movement) as needed
    group by chain, token`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
