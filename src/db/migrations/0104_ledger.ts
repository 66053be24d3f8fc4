import { sql, type Kysely } from "kysely";

// Double entry. Postings never change; the database draws the balances from them.

const statements: readonly string[] = [
  // One booked fact of a chain. Its entries sum to zero in each asset. Rows never change; a later posting reverses
  // them.
  `create table ledger_posting (
    id bigint generated always as identity,
    reference text not null,
    version bigint not null,
    reverses bigint,
    custody text not null,
    chain text not null,
    chain_tx text not null,
    block_number bigint not null,
    entry_count integer not null,
    booked_at timestamptz not null,
    constraint ledger_posting_pkey primary key (id),
    constraint ledger_posting_reference_version_key unique (reference, version),
    constraint ledger_posting_reverses_key unique (reverses),
    constraint ledger_posting_check check ((reverses is null) or ((reference = ('reversal:' || reverses)) and (version = 1))),
    constraint ledger_posting_custody_check check (custody ~~ 'inbox:_%'),
    constraint ledger_posting_entry_count_check check (entry_count >= 2),
    constraint ledger_posting_reverses_fkey foreign key (reverses) references ledger_posting(id)
  )`,
  `create index ledger_posting_by_time on ledger_posting using brin (booked_at)`,
  `create table ledger_entry (
    posting_id bigint not null,
    place integer not null,
    account text not null,
    asset text not null,
    amount_units numeric(78,0) not null,
    constraint ledger_entry_pkey primary key (posting_id, place),
    constraint ledger_entry_account_check check ((account in ('payer:world', 'payout:world', 'fee:platform', 'fee:bridge', 'loss:reorg')) or (account ~~ 'inbox:_%') or (account ~~ 'bridge:_%') or (account ~~ 'hub:_%') or (account ~~ 'suspense:_%') or (account ~~ 'unseen:_%')),
    constraint ledger_entry_amount_units_check check (amount_units <> 0),
    constraint ledger_entry_asset_check check (asset ~~ '_%:_%/_%:_%'),
    constraint ledger_entry_place_check check (place >= 1)
  )`,
  `create index ledger_entry_of_account on ledger_entry (account, asset, posting_id)`,
  // Computed from the entries by a trigger, for accounts that hold or lack funds.
  `create table ledger_balance (
    holder text not null,
    asset text not null,
    account text not null,
    balance_units numeric(78,0) not null,
    constraint ledger_balance_pkey primary key (holder, asset, account),
    constraint ledger_balance_custody check ((balance_units >= 0) or (account !~~ 'inbox:%')),
    constraint ledger_balance_missing check ((balance_units <= 0) or (not ((account ~~ 'unseen:%') or (account = 'loss:reorg'))))
  )`,
  `create function ledger_balance_is_drawn()
   returns trigger
   language plpgsql
  as $function$
      begin
        if pg_trigger_depth() < 2 then
          raise exception 'a balance is drawn from entries: % on % is refused', lower(tg_op), tg_table_name using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$`,
  `create function ledger_entries_are_whole()
   returns trigger
   language plpgsql
   set enable_seqscan to 'off'
  as $function$
      declare wrong bigint;
      begin
        select posting_id into wrong from (
          select posting_id, sum(lines) as lines, max(place) as place, bool_or(units <> 0) as is_uneven from (
            select posting_id, asset, count(*) as lines, max(place) as place, sum(amount_units) as units
            from fresh group by posting_id, asset) as of_asset
          group by posting_id) as sums
        where is_uneven or place > lines
          or lines is distinct from (select entry_count from ledger_posting where id = posting_id) limit 1;
        if wrong is not null then
          raise exception 'the entries of posting % are not whole: they come together, as many as it says, and add up to nothing', wrong using errcode = 'integrity_constraint_violation';
        end if;
        select posting_id into wrong from fresh
          where account like 'inbox:%' and account <> (select custody from ledger_posting where id = posting_id) limit 1;
        if wrong is not null then
          raise exception 'posting % touches an inbox that is not its own', wrong using errcode = 'integrity_constraint_violation';
        end if;
        merge into ledger_balance balance using (
          select case when account like 'inbox:%' or account like 'bridge:%' then account
              else (select custody from ledger_posting where id = posting_id) end as holder,
            asset, account, sum(amount_units) as units
          from fresh
          where account like 'inbox:%' or account like 'bridge:%' or account like 'unseen:%' or account = 'loss:reorg'
          group by 1, 2, 3 having sum(amount_units) <> 0) as change
        on (balance.holder, balance.asset, balance.account) = (change.holder, change.asset, change.account)
        when matched then update set balance_units = balance.balance_units + change.units
        when not matched then insert (holder, asset, account, balance_units)
          values (change.holder, change.asset, change.account, change.units);
        return null;
      end $function$`,
  `create function ledger_is_append_only()
   returns trigger
   language plpgsql
  as $function$
      begin
        raise exception 'the ledger is only ever added to: % on % is refused', lower(tg_op), tg_table_name using errcode = 'integrity_constraint_violation';
      end $function$`,
  `create function ledger_postings_are_sound()
   returns trigger
   language plpgsql
   set enable_seqscan to 'off'
  as $function$
      declare wrong bigint;
      begin
        select id into wrong from fresh
          where (select count(*) from ledger_entry entry where entry.posting_id = fresh.id and entry.place = 1) = 0 limit 1;
        if wrong is not null then
          raise exception 'posting % has no entries: they come in the same statement', wrong using errcode = 'integrity_constraint_violation';
        end if;
        select id into wrong from fresh
          where reverses is null and (
            select count(*) from ledger_posting other
            where other.reference = fresh.reference and other.version <> fresh.version
              and (select count(*) from ledger_posting reversal where reversal.reverses = other.id) = 0) > 0 limit 1;
        if wrong is not null then
          raise exception 'posting % books again what stands in the ledger: the earlier posting is to be reversed first', wrong using errcode = 'integrity_constraint_violation';
        end if;
        select id into wrong from fresh
          where reverses is not null and (
            select count(*) from ledger_posting origin
            join ledger_entry given on given.posting_id = origin.id and given.place = 1
            join ledger_entry taken on taken.posting_id = fresh.id and taken.place = 1
            where origin.id = fresh.reverses and origin.reverses is null
              and (origin.custody, origin.chain, given.account, given.asset, given.amount_units)
                = (fresh.custody, fresh.chain, taken.account, taken.asset, -taken.amount_units)) = 0 limit 1;
        if wrong is not null then
          raise exception 'posting % is not the reversal of what it refers to', wrong using errcode = 'integrity_constraint_violation';
        end if;
        return null;
      end $function$`,
  `create trigger ledger_posting_is_append_only before delete or update or truncate on ledger_posting for each statement execute function ledger_is_append_only()`,
  `create trigger ledger_postings_are_sound after insert on ledger_posting referencing new table as fresh for each statement execute function ledger_postings_are_sound()`,
  `create trigger ledger_entries_are_whole after insert on ledger_entry referencing new table as fresh for each statement execute function ledger_entries_are_whole()`,
  `create trigger ledger_entry_is_append_only before delete or update or truncate on ledger_entry for each statement execute function ledger_is_append_only()`,
  `create trigger ledger_balance_is_drawn before insert or delete or update or truncate on ledger_balance for each statement execute function ledger_balance_is_drawn()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
