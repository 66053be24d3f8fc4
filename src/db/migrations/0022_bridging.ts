import { sql, type Kysely } from "kysely";

// Settlements across chains. Such a settlement belongs to the inbox on the chain of the deposit, where a bridge takes its money, and lands with
// a sweep of the inbox on the settle chain.

const AMOUNT = "numeric(78,0)";

const statements: readonly string[] = [
  `alter table settlement add column landed_chain text, add column landed_chain_tx text, add column landed_block_number bigint`,
  // Not valid first: every existing row has nulls.
  `alter table settlement add constraint settlement_lands_whole check (
    (landed_chain is null) = (landed_chain_tx is null) and (landed_chain is null) = (landed_block_number is null)
    and (landed_chain is null or status = 'landed')) not valid`,
  `alter table settlement add constraint settlement_bridges_by_transaction check (status <> 'bridging' or chain_tx is not null) not valid`,
  `create index settlement_landed_elsewhere on settlement (landed_chain, landed_chain_tx) where landed_chain is not null`,

  // What a bridge carries is no longer in its inbox, which may need another settlement meanwhile.
  `drop index settlement_open`,
  `create unique index settlement_open on settlement (intent_id, chain, token) where status in ('planned','submitted','held')`,

  `create function pinned_minimum(intent intent, chain text, token text) returns numeric language sql stable as $body$
    select case when pinned_minimum.chain = intent.payout_namespace || ':' || intent.payout_chain_reference then intent.minimum_units
      else coalesce((
        select (origin ->> 'minimumUnits')::numeric from route_set cross join lateral json_array_elements(route_set.origins) as origin
        where route_set.id = intent.route_set and 'eip155:' || (origin ->> 'chainId') = pinned_minimum.chain
          and origin ->> 'token' = pinned_minimum.token), intent.minimum_units) end
  $body$`,

  // Everything but the key and the first columns is found again from the burn's transaction.
  `create table crossing (
    movement_id bigint primary key references movement (id),
    intent_id text not null references intent (id),
    chain text not null,
    chain_tx text not null,
    token text not null,
    units ${AMOUNT} not null check (units > 0),
    bridge text not null,
    settle_chain text not null,
    status text not null check (status in ('burned','attested','landed')),
    message text,
    attestation text,
    mint text,
    expires_at_block numeric(20,0),
    outgoing_id bigint references outgoing_transaction (id),
    attempts int not null default 0,
    retry_at timestamptz,
    reason text,
    status_since timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check (status = 'burned' or mint is not null)
  )`,
  `create index crossing_burned on crossing (retry_at, movement_id) where status = 'burned'`,
  `create index crossing_attested on crossing (settle_chain, retry_at) where status = 'attested'`,
  `create index crossing_of_settlement on crossing (chain, chain_tx, intent_id, token)`,
  `create unique index crossing_mint on crossing (settle_chain, mint) where mint is not null`,

  // Until when the service of a bridge has been asked enough, by all processes together.
  `create table bridge_budget (name text primary key, free_at timestamptz not null)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
