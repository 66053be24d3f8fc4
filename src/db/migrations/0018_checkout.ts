import { sql, type Kysely } from "kysely";

// What the checkout page shows of an intent and of its merchant, and the codes that open the page in another browser.

const statements: readonly string[] = [
  `alter table intent add column return_url text, add column description text`,
  `create or replace function intent_pins_hold() returns trigger language plpgsql as $body$
    begin
      if (new.id, new.account_id, new.livemode, new.price_units, new.price_token_units, new.one_time, new.payout_namespace,
          new.payout_chain_reference, new.payout_wallet, new.payout_token, new.payout_decimals, new.rail_id, new.minimum_units,
          new.fee_bps, new.fee_recipient, new.underpay_tolerance_bps, new.recovery, new.recover_after, new.routes_root,
          new.inbox_salt, new.inbox_hub, new.inbox_implementation, new.inbox_address, new.return_url, new.description)
        is distinct from
         (old.id, old.account_id, old.livemode, old.price_units, old.price_token_units, old.one_time, old.payout_namespace,
          old.payout_chain_reference, old.payout_wallet, old.payout_token, old.payout_decimals, old.rail_id, old.minimum_units,
          old.fee_bps, old.fee_recipient, old.underpay_tolerance_bps, old.recovery, old.recover_after, old.routes_root,
          old.inbox_salt, old.inbox_hub, old.inbox_implementation, old.inbox_address, old.return_url, old.description)
      then raise exception 'what intent % pinned at its creation cannot change', old.id using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $body$`,
  // A table of its own: every request reads its account's row, and a logo has up to 32 KiB.
  `create table account_brand (
    account_id text primary key references account (id),
    accent text check (accent ~ '^#[0-9a-f]{6}$'),
    accent_dark text check (accent_dark ~ '^#[0-9a-f]{6}$'),
    radius_px integer check (radius_px between 0 and 24),
    font text,
    support text,
    logo bytea check (octet_length(logo) <= 32768),
    logo_type text check (logo_type in ('image/png','image/svg+xml')),
    changed_at timestamptz not null,
    check ((logo is null) = (logo_type is null))
  )`,
  `create table checkout_handoff (
    code_hash bytea primary key,
    intent_id text not null references intent (id),
    expires_at timestamptz not null
  )`,
  `create index checkout_handoff_expiry on checkout_handoff (expires_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
