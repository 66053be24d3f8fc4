import { sql, type Kysely } from "kysely";

const WRONG = "using errcode = 'integrity_constraint_violation'";
const EMPTY_ROOT = `0x${"0".repeat(64)}`;

const statements: readonly string[] = [
  `create table route_set (
    id text primary key check (id ~ '^0x[0-9a-f]{64}$'),
    root text not null check (root ~ '^0x[0-9a-f]{64}$' and root <> '${EMPTY_ROOT}'),
    routes json not null,
    origins json not null,
    created_at timestamptz not null
  )`,
  `create function route_sets_stay() returns trigger language plpgsql as $body$
    begin
      raise exception 'a route set stays as it is, since inbox addresses commit to it' ${WRONG};
    end $body$`,
  `create trigger route_sets_stay before update or delete on route_set for each statement execute function route_sets_stay()`,
  `alter table intent add column route_set text`,
  `alter table intent add constraint intent_route_set_or_empty_root
    check ((route_set is null) = (routes_root = '${EMPTY_ROOT}'))`,
  // Not a foreign key: every create would lock the one row that all intents of a rail share. Route sets are never deleted.
  `create function intent_has_its_route_set() returns trigger language plpgsql as $body$
    begin
      if not exists (select from route_set where id = new.route_set and root = new.routes_root) then
        raise exception 'intent % has no stored route set with the root that it pins', new.id ${WRONG};
      end if;
      return null;
    end $body$`,
  `create trigger intent_has_its_route_set after insert on intent
    for each row when (new.route_set is not null) execute function intent_has_its_route_set()`,
  `create or replace function intent_pins_hold() returns trigger language plpgsql as $body$
    begin
      if (new.id, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.payout_namespace,
          new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units,
          new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root, new.route_set,
          new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address, new.return_url, new.description)
        is distinct from
         (old.id, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.payout_namespace,
          old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units,
          old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root, old.route_set,
          old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address, old.return_url, old.description)
      then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $body$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
