import { sql, type Kysely } from "kysely";

// Money on its way over a bridge.

const statements: readonly string[] = [
  `create table crossing (
    movement_id bigint not null,
    intent_id text not null,
    chain text not null,
    chain_tx text not null,
    token text not null,
    units numeric(78,0) not null,
    bridge text not null,
    settle_chain text not null,
    status text not null,
    message text,
    attestation text,
    mint text,
    expires_at_block numeric(20,0),
    outgoing_id bigint,
    attempts integer default 0 not null,
    retry_at timestamptz,
    reason text,
    status_since timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    queue smallint default 1 not null,
    proof_tx text not null,
    constraint crossing_pkey primary key (movement_id),
    constraint crossing_check check ((status = 'burned') or (mint is not null)),
    constraint crossing_queue_check check (queue in (1, 2, 3)),
    constraint crossing_status_check check (status in ('burned', 'attested', 'landed')),
    constraint crossing_units_check check (units > 0),
    constraint crossing_intent_id_fkey foreign key (intent_id) references intent(id),
    constraint crossing_movement_id_fkey foreign key (movement_id) references movement(id),
    constraint crossing_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id)
  )`,
  `create index crossing_attested on crossing (queue, settle_chain, retry_at) where (status = 'attested')`,
  `create index crossing_burned on crossing (queue, retry_at, chain, proof_tx) where (status = 'burned')`,
  `create index crossing_by_worth on crossing (queue, settle_chain, units, movement_id) where (status = 'attested')`,
  `create unique index crossing_mint on crossing (settle_chain, mint) where (mint is not null)`,
  `create index crossing_of_proof_tx on crossing (chain, proof_tx) where (status = 'burned')`,
  `create table bridge_budget (
    name text not null,
    free_at timestamptz not null,
    constraint bridge_budget_pkey primary key (name)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
