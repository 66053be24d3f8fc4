import { sql, type Kysely } from "kysely";

// Anybody can make any number of small burns. Each crossing is in one of three queues, so that they delay no other one, and the burns of one
// transaction are asked about together.

const statements: readonly string[] = [
  // `proof_tx`: the transaction whose messages may hold the proof. Its own, unless another burn holds its own proof.
  "alter table crossing add column queue smallint not null default 1 check (queue in (1,2,3)), add column proof_tx text",
  "update crossing set proof_tx = chain_tx",
  "alter table crossing alter column proof_tx set not null",
  "drop index crossing_burned",
  "drop index crossing_attested",
  "create index crossing_burned on crossing (queue, retry_at, chain, proof_tx) where status = 'burned'",
  "create index crossing_of_proof_tx on crossing (chain, proof_tx) where status = 'burned'",
  "create index crossing_attested on crossing (queue, settle_chain, retry_at) where status = 'attested'",
  "create index crossing_by_worth on crossing (queue, settle_chain, units, movement_id) where status = 'attested'",

  // A mint is awaited until its crossing has landed.
  `insert into awaited_burn (mint_id, bridge, next_at, unexplained_since)
    select mint.id, regexp_replace(mint.explained_by, '/[^/]*$', ''), crossing.updated_at, crossing.updated_at
    from crossing join movement mint on mint.chain = crossing.settle_chain and mint.explained_by = crossing.mint and mint.direction = 'in'
      and mint.orphaned_at is null
    where crossing.status = 'attested' on conflict do nothing`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
