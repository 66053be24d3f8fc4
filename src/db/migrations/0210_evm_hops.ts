import { sql, type Kysely } from "kysely";

// An intent that is paid out on Solana may have an inbox on EVM chains, which can only cross. Its routes are those of
// its set with the token account of its inbox on Solana as their recipient, so the root is its own.

const statements: readonly string[] = [
  `alter table intent
    add hop_hub text,
    add constraint intent_hop_hub check ((hop_hub is not null) = ((payout_namespace <> 'eip155') and (hop_recovery is not null)))`,
  `create or replace function intent_pins_hold()
   returns trigger
   language plpgsql
  as $function$
      begin
        if (new.id, new.seq, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.merchant_reference, new.metadata::text, new.payout_namespace, new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units, new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root, new.route_set, new.hop_recovery, new.hop_hub, new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address, new.return_url, new.description, new.rent_recipient, new.created_at) is distinct from (old.id, old.seq, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.merchant_reference, old.metadata::text, old.payout_namespace, old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units, old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root, old.route_set, old.hop_recovery, old.hop_hub, old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address, old.return_url, old.description, old.rent_recipient, old.created_at)
        then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$`,
  `create or replace function intent_has_its_route_set()
   returns trigger
   language plpgsql
  as $function$
      begin
        if not exists (select from route_set where id = new.route_set and (root = new.routes_root or new.payout_namespace <> 'eip155')) then
          raise exception 'intent % has no stored route set with the root that it pins', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
