import { sql, type Kysely } from "kysely";

// What a burn leaves in its inbox, because a bridge takes only so much at once. It is money of the inbox that no later deposit brings.

const statements: readonly string[] = [
  `alter table holding add column rest_block bigint, add column rest_place bigint, add column rest_since timestamptz,
    add column rest_units numeric(78,0) not null default 0, add column rest_counted_units numeric(78,0) not null default 0`,
  // Not valid: a scan of a large table would hold its lock.
  `alter table holding add constraint holding_rest check (
    rest_counted_units >= 0 and rest_units >= 0 and (rest_units = 0 or rest_block is not null)
    and num_nulls(rest_block, rest_place, rest_since) in (0, 3)) not valid`,

  // Inboxes that still hold money after a burn: the settlement station processes their last burn again.
  `insert into quarantine (station, chain, intent_id, revision, movement_id, reason, attempts, since, retry_at)
    select 'settlement', crossing.chain, crossing.intent_id, max(movement.revision) - 1, 0, 'a burn may have left money', 1,
      min(crossing.created_at), min(crossing.created_at)
    from crossing join movement on movement.id = crossing.movement_id
    where exists (
      select from ledger_balance where ledger_balance.holder = 'inbox:' || crossing.intent_id and ledger_balance.balance_units > 0
        and ledger_balance.asset = crossing.chain || '/erc20:' || crossing.token)
    group by crossing.chain, crossing.intent_id
    on conflict (station, chain, intent_id) do update
      set revision = least(quarantine.revision, excluded.revision), movement_id = 0, retry_at = excluded.retry_at`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
