import { sql, type Kysely } from "kysely";

// A burn on Solana locks the rent of its message. It returns five days later, against the signed message.

const statements: readonly string[] = [
  `create table burn_rent (
    movement_id bigint not null,
    chain text not null,
    reclaim_at timestamptz not null,
    constraint burn_rent_pkey primary key (movement_id),
    constraint burn_rent_movement_id_fkey foreign key (movement_id) references movement(id)
  )`,
  `create index burn_rent_due on burn_rent (chain, reclaim_at)`,
  `insert into burn_rent (movement_id, chain, reclaim_at)
    select movement_id, chain, created_at + interval '121 hours' from crossing where status = 'landed' and chain like 'solana:%'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
