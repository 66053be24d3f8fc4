import { sql, type Kysely } from "kysely";

// What a chain holds and no reader of the release can parse, although it names an inbox or the program that empties them. A row takes the
// place of an exception: the range around it is read, and the row is tried again.

const statements: readonly string[] = [
  `create table unreadable (
    chain text not null,
    subject text not null,
    kind text not null check (kind in ('transaction','log','account')),
    chain_tx text,
    block_number bigint,
    place bigint,
    inboxes text[] not null,
    names_program boolean not null,
    reason text not null,
    providers text not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    tries int not null default 0 check (tries >= 0),
    retry_at timestamptz not null,
    primary key (chain, subject),
    check (names_program or inboxes <> '{}')
  )`,
  `create index unreadable_due on unreadable (chain, retry_at)`,
  `create index unreadable_inboxes on unreadable using gin (inboxes)`,
  `create table unreadable_overflow (
    chain text primary key,
    left_out bigint not null check (left_out > 0),
    last_seen_at timestamptz not null
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
