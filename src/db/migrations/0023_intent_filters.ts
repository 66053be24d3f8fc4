import { sql, type Kysely } from "kysely";

// A list of intents reads about as many rows as it returns, whatever its filters.

const statements: readonly string[] = [
  // Every combination of a status and a payment status is one range, newest first. The expression is the one of intent/listFilters.ts.
  `create index intent_by_status on intent (account_id, status, (case
    when counted_units = 0 then 'unpaid'
    when price_token_units is null then 'paid'
    when counted_units * 10000 < price_token_units * (10000 - underpay_tolerance_bps) then 'partial'
    when one_time and counted_units > price_token_units then 'overpaid'
    else 'paid' end), seq desc)`,
  `create index intent_by_time on intent (account_id, created_at, seq)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
