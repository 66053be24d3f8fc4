import { sql, type Kysely } from "kysely";

// What the senders of chains sign, and with which nonce.

const statements: readonly string[] = [
  `create table gas_account (
    chain text not null,
    address text not null,
    next_nonce bigint not null,
    constraint gas_account_pkey primary key (chain, address),
    constraint gas_account_next_nonce_check check (next_nonce >= 0)
  )`,
  `create table outgoing_transaction (
    id bigint generated always as identity,
    chain text not null,
    sender text not null,
    nonce bigint,
    recipient text,
    data text,
    gas_limit bigint,
    status text not null,
    mined_chain_tx text,
    mined_block_number bigint,
    created_at timestamptz not null,
    closed_at timestamptz,
    purged_at timestamptz,
    constraint outgoing_transaction_pkey primary key (id),
    constraint outgoing_transaction_check check (num_nulls(nonce, recipient, data, gas_limit) in (0, 4)),
    constraint outgoing_transaction_purged_is_closed check ((purged_at is null) or (closed_at is not null)),
    constraint outgoing_transaction_closed_check check ((status = 'signed') = (closed_at is null)),
    constraint outgoing_transaction_mined_check check ((status in ('mined', 'reverted')) = ((mined_chain_tx is not null) and (mined_block_number is not null))),
    constraint outgoing_transaction_gas_limit_check check (gas_limit > 0),
    constraint outgoing_transaction_status_check check (status in ('signed', 'mined', 'reverted', 'lost'))
  )`,
  `create index outgoing_transaction_open on outgoing_transaction (chain, nonce) where (status = 'signed')`,
  `create index outgoing_transaction_purge on outgoing_transaction (chain, closed_at) where ((closed_at is not null) and (purged_at is null))`,
  `create unique index outgoing_transaction_slot on outgoing_transaction (chain, sender, nonce) where (status <> 'lost')`,
  `create table outgoing_attempt (
    outgoing_id bigint not null,
    attempt integer not null,
    chain_tx text not null,
    raw text not null,
    max_fee_per_gas numeric(78,0),
    max_priority_fee_per_gas numeric(78,0),
    created_at timestamptz not null,
    submitted_at timestamptz,
    last_valid_height bigint,
    constraint outgoing_attempt_pkey primary key (outgoing_id, attempt),
    constraint outgoing_attempt_chain_tx_key unique (chain_tx),
    constraint outgoing_attempt_check check (num_nulls(max_fee_per_gas, max_priority_fee_per_gas) in (0, 2)),
    constraint outgoing_attempt_check1 check ((last_valid_height is null) or (max_fee_per_gas is null)),
    constraint outgoing_attempt_last_valid_height_check check (last_valid_height >= 0),
    constraint outgoing_attempt_attempt_check check (attempt >= 1),
    constraint outgoing_attempt_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id)
  )`,
  `create function outgoing_bytes_stay()
   returns trigger
   language plpgsql
   set enable_seqscan to 'off'
  as $function$
      begin
        if exists (select from outgoing_transaction where id = old.outgoing_id and purged_at is null) then
          raise exception 'the bytes of transaction % stay until it is purged', old.outgoing_id using errcode = 'integrity_constraint_violation';
        end if;
        return old;
      end $function$`,
  `create trigger outgoing_bytes_stay before delete on outgoing_attempt for each row execute function outgoing_bytes_stay()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
