import { sql, type Kysely } from "kysely";

// Crossings: a bridge takes an inbox's units on one chain and gives them to the same inbox on another. `explained_by` names the bridge and the
// other end, see ProvenCrossing. What the bridge gives is no deposit, because it was one on the chain where the bridge took it.

const AMOUNT = "numeric(78,0)";

const statements: readonly string[] = [
  `alter table movement add column bridge_fee_units ${AMOUNT}`,
  // Not valid first: every existing row is null, and a scan of a large table would hold its lock.
  `alter table movement add constraint movement_bridge_fee_is_explained check (
    (bridge_fee_units is null) = (explained_by is null)
    and (bridge_fee_units is null or bridge_fee_units = 0 or direction = 'in' and bridge_fee_units > 0)) not valid`,
  `create index movement_crossing on movement (intent_id, chain, token, block_number, place) where explained_by is not null`,
  `create index movement_mint on movement (chain, explained_by) where explained_by is not null and direction = 'in'`,

  // A bridge's account has a balance in the asset of each of its chains. Together they are what it carries; one alone may be negative.
  `alter table ledger_balance drop constraint ledger_balance_custody`,
  `alter table ledger_balance add constraint ledger_balance_custody check (balance_units >= 0 or account not like 'inbox:%')`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
