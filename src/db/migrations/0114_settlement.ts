import { sql, type Kysely } from "kysely";

// What was paid out, and by which transfers.

const statements: readonly string[] = [
  `create table settlement (
    id text not null,
    seq bigint generated always as identity,
    intent_id text not null,
    chain text not null,
    token text not null,
    status text not null,
    gross_units numeric(78,0),
    fee_units numeric(78,0),
    route_cost_units numeric(78,0),
    net_units numeric(78,0),
    reason text,
    outgoing_id bigint,
    chain_tx text,
    block_number bigint,
    attempts integer default 0 not null,
    retry_at timestamptz,
    created_at timestamptz not null,
    submitted_at timestamptz,
    landed_at timestamptz,
    updated_at timestamptz not null,
    landed_chain text,
    landed_chain_tx text,
    landed_block_number bigint,
    burn_id bigint,
    constraint settlement_pkey primary key (id),
    constraint settlement_bridges_a_burn check ((((burn_id is null) or (chain_tx is not null)) and ((burn_id is not null) or ((status <> 'bridging') and (landed_chain is null))))),
    constraint settlement_check check ((gross_units is null) or (gross_units = ((fee_units + route_cost_units) + net_units))),
    constraint settlement_check1 check ((status <> 'landed') or ((gross_units is not null) and (chain_tx is not null) and (landed_at is not null))),
    constraint settlement_check2 check ((status <> 'submitted') or (outgoing_id is not null)),
    constraint settlement_check3 check ((status <> all (array['held', 'failed'])) or (reason is not null)),
    constraint settlement_fee_units_check check (fee_units >= 0),
    constraint settlement_gross_units_check check (gross_units >= 0),
    constraint settlement_lands_whole check ((((landed_chain is null) = (landed_chain_tx is null)) and ((landed_chain is null) = (landed_block_number is null)) and ((landed_chain is null) or (status = 'landed')))),
    constraint settlement_net_units_check check (net_units >= 0),
    constraint settlement_route_cost_units_check check (route_cost_units >= 0),
    constraint settlement_status_check check (status in ('planned', 'submitted', 'bridging', 'landed', 'held', 'failed')),
    constraint settlement_burn_id_fkey foreign key (burn_id) references movement(id),
    constraint settlement_intent_id_fkey foreign key (intent_id) references intent(id),
    constraint settlement_outgoing_id_fkey foreign key (outgoing_id) references outgoing_transaction(id)
  )`,
  `create unique index settlement_chain_tx on settlement (chain, chain_tx, intent_id, token, burn_id) nulls not distinct where (chain_tx is not null)`,
  `create index settlement_due on settlement (chain, retry_at, seq) where (status in ('planned', 'held'))`,
  `create index settlement_landed_elsewhere on settlement (landed_chain, landed_chain_tx) where (landed_chain is not null)`,
  `create index settlement_of_intent on settlement (((intent_id || '')), seq)`,
  `create unique index settlement_open on settlement (intent_id, chain, token) where (status in ('planned', 'submitted', 'held'))`,
  `create index settlement_submitted on settlement (chain, outgoing_id) where (status = 'submitted')`,
  `create index settlement_unfinished_outgoing on settlement (outgoing_id) where ((outgoing_id is not null) and (status <> all (array['landed', 'failed'])))`,
  // asking → agreed; back to asking when a movement of the sweep changes.
  `create table sweep_agreement (
    chain text not null,
    chain_tx text not null,
    intent_id text not null,
    token text not null,
    legs_revision bigint not null,
    legs_count integer not null,
    state text not null,
    answers json not null,
    attempts integer default 0 not null,
    asked_at timestamptz not null,
    retry_at timestamptz,
    constraint sweep_agreement_pkey primary key (chain, chain_tx, intent_id, token),
    constraint sweep_agreement_attempts_check check (attempts >= 0),
    constraint sweep_agreement_check check ((state = 'asking') = (retry_at is not null)),
    constraint sweep_agreement_legs_count_check check (legs_count > 0),
    constraint sweep_agreement_state_check check (state in ('asking', 'agreed')),
    constraint sweep_agreement_intent_id_fkey foreign key (intent_id) references intent(id)
  )`,
  `create index sweep_agreement_agreed on sweep_agreement (asked_at) where (state = 'agreed')`,
  `create index sweep_agreement_due on sweep_agreement (chain, retry_at) where (state = 'asking')`,
  `alter table deposit add constraint deposit_settlement_id_fkey foreign key (settlement_id) references settlement(id)`,
  `create view listed_deposit as
   select deposit.id,
      movement.id as movement_id,
      movement.intent_id,
      movement.chain,
      movement.token,
      deposit.token_decimals,
      coalesce(deposit.sender, movement.counterparty) as sender,
      coalesce(deposit.amount_units, movement.amount_units) as amount_units,
      coalesce(deposit.counted_units,
          case
              when ((movement.orphaned_at is null) and (movement.block_number <= holding.counted_block)) then movement.amount_units
              else (0)::numeric
          end) as counted_units,
      coalesce(deposit.status,
          case
              when (movement.orphaned_at is not null) then 'dropped'::text
              when (holding.intent_id is null) then 'held'::text
              when (movement.block_number <= holding.counted_block) then 'counted'::text
              when (movement.block_number <= holding.dust_block) then 'confirmed'::text
              else 'seen'::text
          end) as status,
          case
              when (deposit.id is not null) then deposit.reason
              when (movement.orphaned_at is not null) then 'reorg'::text
              when (holding.intent_id is null) then 'no_route'::text
              when ((movement.block_number > holding.counted_block) and (movement.block_number <= holding.dust_block)) then 'below_minimum'::text
              else null::text
          end as reason,
      deposit.late,
      movement.chain_tx,
      movement.identity,
      coalesce(deposit.block_number, movement.block_number) as block_number,
      coalesce(deposit.block_hash, movement.block_hash) as block_hash,
      deposit.required_confirmations,
          case
              when (deposit.id is not null) then deposit.settlement_id
              when ((movement.orphaned_at is null) and (holding.intent_id is not null)) then ( select ( select settlement.id
                         from settlement
                        where ((settlement.chain = departure.chain) and (settlement.chain_tx = departure.chain_tx) and (settlement.intent_id = departure.intent_id) and (settlement.token = departure.token) and (settlement.status = 'landed'::text) and ((settlement.burn_id is null) or (settlement.burn_id = departure.id)))) as id
                 from movement departure
                where ((departure.intent_id = movement.intent_id) and (departure.chain = movement.chain) and (departure.token = movement.token) and (departure.direction = 'out'::text) and (departure.orphaned_at is null) and (row(departure.block_number, departure.place) > row(movement.block_number, movement.place)))
                order by departure.block_number, departure.place
               limit 1)
              else null::text
          end as settlement_id,
      coalesce(deposit.seen_at, movement.seen_at) as seen_at,
      coalesce(deposit.counted_at,
          case
              when ((movement.orphaned_at is null) and (movement.block_number <= holding.counted_block)) then holding.dust_counted_at
              else null::timestamp with time zone
          end) as counted_at,
      movement.inbox,
      coalesce(encode(deployment.deployment_id, 'hex'::text), ''::text) as deployment,
      deposit.required_seconds
     from ((((movement
       left join deposit on ((deposit.movement_id = movement.id)))
       left join holding on (((holding.intent_id = movement.intent_id) and (holding.chain = movement.chain) and (holding.token = movement.token))))
       left join deposit_cursor taken on ((taken.chain = movement.chain)))
       left join deployment on (true))
    where ((movement.direction = 'in'::text) and ((deposit.id is not null) or (row(movement.revision, movement.id) <= row(coalesce(taken.revision, (0)::bigint), coalesce(taken.movement_id, (0)::bigint)))))`,
  `create function outgoing_purge_waits_for_settlements()
   returns trigger
   language plpgsql
   set enable_seqscan to 'off'
  as $function$
      begin
        if exists (select from settlement where outgoing_id = new.id and status not in ('landed', 'failed')) then
          raise exception 'transaction % keeps its bytes until its settlements have ended', new.id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$`,
  `create trigger outgoing_purge_waits_for_settlements before update of purged_at on outgoing_transaction for each row when ((new.purged_at is not null)) execute function outgoing_purge_waits_for_settlements()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
