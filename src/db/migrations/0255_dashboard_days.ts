import { sql, type Kysely } from "kysely";

// What settlements came to on each day, the payers of an account, links that open the dashboard once, and wallets of
// members that are contracts.

/** What landed settlements came to: `sign` adds or takes away. */
const landed = (table: string, sign: 1 | -1) => `
        select intent_id, (landed_at at time zone 'UTC')::date as day, chain, token, updated_at, ${sign} as landed_count,
          ${sign} * gross_units as gross_units, ${sign} * fee_units as fee_units,
          ${sign} * route_cost_units as route_cost_units, ${sign} * net_units as net_units
        from ${table} where status = 'landed'`;

/** The changes of one statement as one row for each account, day, chain and token, unless they cancel each other out. */
const appendChanges = (changed: string) => `
      insert into settlement_day_change
        (account_id, day, chain, token, changed_at, landed_count, gross_units, fee_units, route_cost_units, net_units)
      select owner.account_id, changed.day, changed.chain, changed.token, max(changed.updated_at), sum(changed.landed_count),
        sum(changed.gross_units), sum(changed.fee_units), sum(changed.route_cost_units), sum(changed.net_units)
      from (${changed}
      ) as changed cross join lateral (select account_id from intent where id = changed.intent_id offset 0) as owner
      group by owner.account_id, changed.day, changed.chain, changed.token
      having (sum(changed.landed_count), sum(changed.gross_units), sum(changed.fee_units), sum(changed.route_cost_units),
        sum(changed.net_units)) is distinct from (0, 0, 0, 0, 0)`;

const sums = `landed_count bigint not null,
    gross_units numeric(78,0) not null,
    fee_units numeric(78,0) not null,
    route_cost_units numeric(78,0) not null,
    net_units numeric(78,0) not null`;

const statements: readonly string[] = [
  // Appended with each change of landed settlements, so that they never wait for the row of a day.
  `create table settlement_day_change (
    number bigint generated always as identity not null,
    account_id text not null,
    day date not null,
    chain text not null,
    token text not null,
    changed_at timestamptz not null,
    ${sums},
    constraint settlement_day_change_pkey primary key (number)
  )`,
  // What landed on a day in UTC, by the chain on which it was paid.
  `create table settlement_day (
    account_id text not null,
    day date not null,
    chain text not null,
    token text not null,
    ${sums},
    constraint settlement_day_pkey primary key (account_id, day, chain, token),
    constraint settlement_day_account_id_fkey foreign key (account_id) references account(id)
  )`,
  `create index settlement_day_day on settlement_day (day)`,
  // Triggers, so that a process of the version before adds to the days too. The first statement ends those of others.
  `create function settlement_days_insert() returns trigger language plpgsql set enable_seqscan to 'off' as $function$
    begin${appendChanges(landed("fresh", 1))};
      return null;
    end $function$`,
  `create function settlement_days_update() returns trigger language plpgsql set enable_seqscan to 'off' as $function$
    begin${appendChanges(`${landed("fresh", 1)} union all ${landed("stale", -1)}`)};
      return null;
    end $function$`,
  `create trigger settlement_days_insert after insert on settlement referencing new table as fresh
    for each statement execute function settlement_days_insert()`,
  `create trigger settlement_days_update after update on settlement referencing old table as stale new table as fresh
    for each statement execute function settlement_days_update()`,
  appendChanges(landed("settlement", 1)),
  // A payer's deposits to one account. Null: written by the version before.
  `alter table deposit add account_id text`,
  `update deposit set account_id = intent.account_id from intent where intent.id = deposit.intent_id`,
  `create index deposit_of_payer on deposit (sender, account_id, seq desc)`,
  // Null: a wallet with a private key. Else the chain on which it is a contract.
  `alter table member
    add chain text,
    add constraint member_chain_check check ((chain is null) or (namespace = 'eip155'))`,
  `alter table sign_in_challenge add chain text`,
  // A link that opens the dashboard once.
  `create table dashboard_link (
    code_hash bytea not null,
    member_id text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    constraint dashboard_link_pkey primary key (code_hash),
    constraint dashboard_link_member_id_fkey foreign key (member_id) references member(id)
  )`,
  `create index dashboard_link_expires on dashboard_link (expires_at)`,
  // What one key or member changed lately.
  `create index audit_entry_of_actor on audit_entry (account_id, actor, number desc)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
