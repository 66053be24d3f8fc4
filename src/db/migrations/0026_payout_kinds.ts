import { sql, type Kysely } from "kysely";

// A payout on Solana pins who gets the rent of closed accounts, and an account may have a recovery key there beside its EVM address.

const PINS = [
  "id",
  "account_id",
  "livemode",
  "price_units",
  "price_token_units",
  "one_time",
  "payout_namespace",
  "payout_chain_reference",
  "payout_wallet",
  "payout_token",
  "payout_decimals",
  "rail_id",
  "minimum_units",
  "fee_bps",
  "fee_recipient",
  "underpay_tolerance_bps",
  "recovery",
  "recover_after",
  "routes_root",
  "route_set",
  "inbox_salt",
  "inbox_hub",
  "inbox_implementation",
  "inbox_address",
  "return_url",
  "description",
  "rent_recipient",
];
const pinsOf = (row: string) => PINS.map((column) => `${row}.${column}`).join(", ");

const statements: readonly string[] = [
  `alter table intent add column rent_recipient text`,
  `alter table intent add constraint intent_rent_recipient_of_solana check (rent_recipient is null or payout_namespace = 'solana')`,
  `create or replace function intent_pins_hold() returns trigger language plpgsql as $body$
    begin
      if (${pinsOf("new")}) is distinct from (${pinsOf("old")})
      then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $body$`,
  `alter table account add column solana_recovery text`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
