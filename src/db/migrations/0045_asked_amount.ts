import { sql, type Kysely } from "kysely";

// Two more totals of an intent. `agreement_units` arrived and is held until the chain's providers agree, so nobody is asked for it again.
// `late_units` counted after the intent had closed: what paid it in time is the counted amount less these.

const statements: readonly string[] = [
  `alter table intent add column agreement_units numeric(78,0) not null default 0,
    add column late_units numeric(78,0) not null default 0`,
  // Not valid: a scan of a large table would hold its lock.
  `alter table intent add constraint intent_arrived check (agreement_units >= 0 and late_units >= 0) not valid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
