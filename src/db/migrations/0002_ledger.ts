import { sql, type Kysely } from "kysely";

// The books. What a wrong posting would be is refused here, whoever writes it: triggers compare, add up and forbid, and they run at the
// end of the statement that writes, so that a posting is whole from its first moment. A balance is never written, only drawn.

const AMOUNT = "numeric(78,0)";

// Each looks up few rows by their keys. A plan is kept for the life of a connection, so one that was made for an empty table must
// still be right for a full one: subqueries that depend on the new rows leave no other plan than a look at an index for each.
const BY_INDEX = "set enable_seqscan = off";

const WRONG = "using errcode = 'integrity_constraint_violation'";

const statements: readonly string[] = [
  `alter table chain_cursor add column booked_number bigint not null default -1`,

  // ── ledger: one posting for each fact of a chain, with what it moves from account to account ──
  `create table ledger_posting (
    id bigint generated always as identity primary key,
    reference text not null,
    version bigint not null,
    reverses bigint unique references ledger_posting (id),
    custody text not null check (custody like 'inbox:_%'),
    chain text not null,
    chain_tx text not null,
    block_number bigint not null,
    entry_count int not null check (entry_count >= 2),
    booked_at timestamptz not null,
    unique (reference, version),
    check (reverses is null or (reference = 'reversal:' || reverses and version = 1))
  )`,
  // Postings stand in the order of time, so that the ends of a period are found by a few bytes a page.
  `create index ledger_posting_by_time on ledger_posting using brin (booked_at)`,
  `create table ledger_entry (
    posting_id bigint not null,
    place int not null check (place >= 1),
    account text not null check (
      account in ('payer:world','payout:world','fee:platform','fee:bridge','loss:reorg')
      or account like 'inbox:_%' or account like 'bridge:_%' or account like 'hub:_%' or account like 'suspense:_%' or account like 'unseen:_%'),
    asset text not null check (asset like '_%:_%/_%:_%'),
    amount_units ${AMOUNT} not null check (amount_units <> 0),
    primary key (posting_id, place)
  )`,
  `create index ledger_entry_of_account on ledger_entry (account, asset, posting_id)`,
  // What an inbox or a bridge holds is never below nothing. What is missing to that has accounts of its own, and these never hold more.
  `create table ledger_balance (
    holder text not null,
    asset text not null,
    account text not null,
    balance_units ${AMOUNT} not null,
    primary key (holder, asset, account),
    constraint ledger_balance_custody check (balance_units >= 0 or not (account like 'inbox:%' or account like 'bridge:%')),
    constraint ledger_balance_missing check (balance_units <= 0 or not (account like 'unseen:%' or account = 'loss:reorg'))
  )`,

  `create function ledger_is_append_only() returns trigger language plpgsql as $body$
    begin
      raise exception 'the ledger is only ever added to: % on % is refused', lower(tg_op), tg_table_name ${WRONG};
    end $body$`,
  ...["ledger_posting", "ledger_entry"].map(
    (table) =>
      `create trigger ${table}_is_append_only before update or delete or truncate on ${table}
        for each statement execute function ledger_is_append_only()`,
  ),
  `create function ledger_balance_is_drawn() returns trigger language plpgsql as $body$
    begin
      if pg_trigger_depth() < 2 then
        raise exception 'a balance is drawn from entries: % on % is refused', lower(tg_op), tg_table_name ${WRONG};
      end if;
      return null;
    end $body$`,
  `create trigger ledger_balance_is_drawn before insert or update or delete or truncate on ledger_balance
    for each statement execute function ledger_balance_is_drawn()`,

  `create function ledger_entries_are_whole() returns trigger language plpgsql ${BY_INDEX} as $body$
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
        raise exception 'the entries of posting % are not whole: they come together, as many as it says, and add up to nothing', wrong ${WRONG};
      end if;
      select posting_id into wrong from fresh
        where account like 'inbox:%' and account <> (select custody from ledger_posting where id = posting_id) limit 1;
      if wrong is not null then
        raise exception 'posting % touches an inbox that is not its own', wrong ${WRONG};
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
    end $body$`,
  `create trigger ledger_entries_are_whole after insert on ledger_entry referencing new table as fresh
    for each statement execute function ledger_entries_are_whole()`,

  `create function ledger_postings_are_sound() returns trigger language plpgsql ${BY_INDEX} as $body$
    declare wrong bigint;
    begin
      select id into wrong from fresh
        where (select count(*) from ledger_entry entry where entry.posting_id = fresh.id and entry.place = 1) = 0 limit 1;
      if wrong is not null then
        raise exception 'posting % has no entries: they come in the same statement', wrong ${WRONG};
      end if;
      select id into wrong from fresh
        where reverses is null and (
          select count(*) from ledger_posting other
          where other.reference = fresh.reference and other.version <> fresh.version
            and (select count(*) from ledger_posting reversal where reversal.reverses = other.id) = 0) > 0 limit 1;
      if wrong is not null then
        raise exception 'posting % books again what stands in the ledger: the earlier posting is to be reversed first', wrong ${WRONG};
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
        raise exception 'posting % is not the reversal of what it refers to', wrong ${WRONG};
      end if;
      return null;
    end $body$`,
  `create trigger ledger_postings_are_sound after insert on ledger_posting referencing new table as fresh
    for each statement execute function ledger_postings_are_sound()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
