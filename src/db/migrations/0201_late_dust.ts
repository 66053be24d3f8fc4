import { sql, type Kysely } from "kysely";

// Postponed dust has a table of its own, dust that is found late has sums of its own, and a deposit stores what was
// final elsewhere when it counted.

const statements: readonly string[] = [
  // Transactions of which all transfers are dust, where a reading found very many: they are recorded some seconds
  // later.
  `create table postponed (
    chain text not null,
    chain_tx text not null,
    block_number bigint not null,
    inboxes text[] not null,
    first_seen_at timestamptz not null,
    retry_at timestamptz not null,
    constraint postponed_pkey primary key (chain, chain_tx),
    constraint postponed_block_number_check check (block_number >= 0),
    constraint postponed_inboxes_check check (inboxes <> '{}'::text[])
  )`,
  `create index postponed_block on postponed (chain, block_number)`,
  `create index postponed_inboxes on postponed using gin (inboxes)`,
  `insert into postponed (chain, chain_tx, block_number, inboxes, first_seen_at, retry_at)
    select chain, chain_tx, block_number, inboxes, first_seen_at, retry_at from unreadable
    where reason = 'very many transfers below the minimum'`,
  `delete from unreadable where reason = 'very many transfers below the minimum'`,
  `alter table holding
    add late_count bigint default 0 not null,
    add late_units numeric(78,0) default 0 not null,
    add late_held_units numeric(78,0) default 0 not null,
    add constraint holding_late check ((late_count >= 0) and (late_count <= waiting_count) and (late_units >= 0) and (late_units <= waiting_units) and (late_held_units >= 0) and (late_held_units <= late_units) and (late_held_units <= waiting_held_units))`,
  `alter table deposit
    add counted_elsewhere text,
    add constraint deposit_counted_elsewhere check ((counted_elsewhere is null) or (counted_limit_units is not null))`,
  `create index deposit_counted on deposit (counted_at, id) where (counted_at is not null)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
