import { sql, type RawBuilder } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array, unnest, type ElementType } from "../db/parameters.ts";
import type { OutgoingTransactionStatus } from "../chain/outgoing/outgoingTables.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { IS_DOUBTFUL_REMAINDER } from "../deposit/holding/remainderReads.ts";
import { isNamedByUnreadable } from "../watch/unreadable/unreadableStore.ts";
import { isOpen, RETRY_MS_MAX, sweepKey, type Settlement, type SettlementRow } from "./settlement.ts";
import { isOpenSettlement } from "../deposit/openSettlement.ts";

type SweepName = { intent_id: string; token: string; chain_tx: string };

/**
 * Locks the settlements that these sweeps may match, and returns them in the order of their planning: those with the
 * sweeps' transactions, and the open ones of their inboxes.
 */
export async function lockInboxSettlements(
  tx: Tx,
  chain: Caip2,
  sweeps: readonly SweepName[],
): Promise<SettlementRow[]> {
  const column = (name: keyof SweepName) =>
    array(
      sweeps.map((sweep) => sweep[name]),
      "text",
    );
  const { rows } = await sql<SettlementRow>`
    select settlement.* from settlement where id = any(array(
      select found.id from unnest(
        ${column("intent_id")}, ${column("token")}, ${column("chain_tx")}
      ) as sweep (intent_id, token, chain_tx) cross join lateral (
        select id from settlement swept where swept.chain = ${chain} and swept.chain_tx = sweep.chain_tx
          and swept.intent_id = sweep.intent_id and swept.token = sweep.token
        union all
        select id from settlement waiting where waiting.intent_id = sweep.intent_id and waiting.chain = ${chain}
          and waiting.token = sweep.token and ${isOpenSettlement("waiting")}
      ) as found
    )) order by id for update`.execute(tx);
  // Another process may have closed one while this waited for its lock.
  const sweepKeys = new Set(sweeps.map(sweepKey));
  return rows
    .filter(
      (row) => isOpen(row) || (row.chain_tx !== null && sweepKeys.has(sweepKey({ ...row, chain_tx: row.chain_tx }))),
    )
    .toSorted((a, b) => (a.seq < b.seq ? -1 : 1));
}

/**
 * Counted deposits of these intents that are unassigned although a later sweep or burn took them, each with the first
 * such settlement.
 */
export async function listUnassignedSweptDeposits(
  tx: Tx,
  scope: { chain: Caip2; intentIds: readonly string[]; limit: number },
): Promise<{ depositId: string; settlementId: string }[]> {
  const { rows } = await sql<{ depositId: string; settlementId: string }>`
    select deposit.id as "depositId", sweep.id as "settlementId"
    from (select distinct * from unnest(${array(scope.intentIds, "text")})) as asked (intent_id)
    cross join lateral (
      select * from deposit where deposit.intent_id = asked.intent_id and deposit.chain = ${scope.chain}
        and deposit.status = 'counted' and deposit.settlement_id is null offset 0
    ) as deposit
    cross join lateral (select * from movement where movement.id = deposit.movement_id offset 0) as arrival
    cross join lateral (
      select settlement.id from movement departure cross join lateral (
        select settlement.id from settlement
        where settlement.chain = departure.chain and settlement.chain_tx = departure.chain_tx
          and settlement.intent_id = departure.intent_id and settlement.token = departure.token
          and settlement.status in ('landed','bridging')
          and (settlement.burn_id is null or settlement.burn_id = departure.id)
        offset 0
      ) as settlement
      where departure.intent_id = arrival.intent_id and departure.chain = arrival.chain and departure.token = arrival.token
        and departure.direction = 'out' and departure.orphaned_at is null
        and (departure.block_number, departure.place) > (arrival.block_number, arrival.place)
      order by departure.block_number, departure.place limit 1
    ) sweep
    limit ${scope.limit}`.execute(tx);
  return rows;
}

/**
 * Inboxes on a chain with counted money for which a settlement should be planned, oldest first: those that counted it
 * before `countedBefore`, or after `at`, because a clock that stepped back must not let money wait for the old time.
 * `intentIds` limits the query. What a sweep left waits while something unreadable names the inbox; its deposits do
 * not.
 */
export async function listDueInboxes(
  db: Db["root"],
  scope: { chain: Caip2; countedBefore: Date; at: Date; limit: number; intentIds?: readonly string[] },
): Promise<{ intentId: string; token: string }[]> {
  const { chain, countedBefore, at, limit, intentIds } = scope;
  const isAsked =
    intentIds === undefined ? sql<boolean>`true` : sql<boolean>`intent_id = any(${array(intentIds, "text")})`;
  const part = (due: RawBuilder<boolean>) => sql`
    (select intent_id, token, due_from from holding where chain = ${chain} and ${due} and ${isAsked}
      and not ${IS_DOUBTFUL_REMAINDER} order by due_from limit ${limit})`;
  const { rows } = await sql<{ intentId: string; token: string }>`
    select intent_id as "intentId", token from (
      ${part(sql`due_from <= ${countedBefore}`)} union all ${part(sql`due_from > ${at}`)}
    ) as due order by due_from limit ${limit}`.execute(db);
  return rows;
}

/** Inserts planned settlements; the unique index skips inboxes with an open settlement. */
export async function insertPlannedSettlements(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  if (settlements.length === 0) return;
  await sql`/* named: plan_settlements */ ${insertSettlements(settlements)} on conflict do nothing`.execute(tx);
}

export type DueSettlement = { settlement: SettlementRow; intent: IntentRow };

/**
 * A chain's settlements that are due, longest due first, with the intents of their inboxes. A settlement that fails
 * each time goes behind the others. A retry further ahead than the longest wait counts as due, because the clock was
 * set back.
 */
export async function listDueSettlements(
  db: Db,
  scope: { chain: Caip2; at: Date; limit: number },
): Promise<DueSettlement[]> {
  const { chain, at, limit } = scope;
  const waiting = (due: RawBuilder<boolean>) => sql`
    (select * from settlement where chain = ${chain} and status in ('planned','held') and ${due}
      order by retry_at, seq limit ${limit})`;
  // Three parts, each of which the index returns in its order.
  const { rows: settlements } = await sql<SettlementRow>`
    select * from (
      ${waiting(sql`retry_at is null`)} union all ${waiting(sql`retry_at <= ${at}::timestamptz`)}
      union all ${waiting(sql`retry_at > ${addMs(at, RETRY_MS_MAX)}::timestamptz`)}
    ) as due order by coalesce(retry_at, created_at), seq limit ${limit}`.execute(db.root);
  if (settlements.length === 0) return [];
  const ids = [...new Set(settlements.map((settlement) => settlement.intent_id))];
  const intents = await db.root
    .selectFrom("intent")
    .selectAll()
    .where(sql<boolean>`id = any(${array(ids, "text")})`)
    .execute();
  const intentOf = new Map(intents.map((intent) => [intent.id, intent]));
  return settlements.flatMap((settlement) => {
    const intent = intentOf.get(settlement.intent_id);
    return intent ? [{ settlement, intent }] : [];
  });
}

/** Sets when settlements that are still planned or held are due again. Their states and attempts stay unchanged. */
export async function updateRetryAt(
  db: Db,
  { ids, retryAt }: { ids: readonly string[]; retryAt: Date },
): Promise<void> {
  await db.root
    .updateTable("settlement")
    .set({ retry_at: retryAt })
    .where(sql<boolean>`id = any(${array(ids, "text")})`)
    .where("status", "in", ["planned", "held"])
    .execute();
}

export type IneffectiveSettlement = { id: string; intentId: string; transactionStatus: OutgoingTransactionStatus };

/**
 * SQL: whether the settlement station has yet to apply a movement out of an inbox, or waits with it for more providers.
 * What it has applied has landed its settlement, or was another's: a transaction may move only what a bridge gave.
 */
const IS_STILL_OBSERVED = sql`(
  not exists (select from settlement_cursor taken where taken.chain = movement.chain
    and (taken.revision, taken.movement_id) >= (movement.revision, movement.id))
  or exists (select from quarantine where quarantine.station = 'settlement' and quarantine.chain = movement.chain
    and quarantine.intent_id = movement.intent_id)
  or exists (select from sweep_agreement where sweep_agreement.chain = movement.chain
    and sweep_agreement.chain_tx = movement.chain_tx and sweep_agreement.intent_id = movement.intent_id
    and sweep_agreement.token = movement.token and sweep_agreement.state = 'asking'))`;

/**
 * Submitted settlements whose transaction is closed within the recorded blocks, and which no movement out of their
 * inbox has landed. Reviews the next `transactionsMax` transactions after `afterOutgoing` that settlements wait for, and returns the last
 * of them; undefined after the last one of all. A round over all pages costs as much as the waiting transactions, not
 * as the past ones.
 */
export async function listIneffectiveSettlements(
  db: Db,
  scope: { chain: Caip2; afterOutgoing: bigint; transactionsMax: number },
): Promise<{ ineffective: IneffectiveSettlement[]; lastOutgoing: bigint | undefined }> {
  const { chain, afterOutgoing, transactionsMax } = scope;
  const next = (after: RawBuilder<bigint>) => sql`(select outgoing_id from settlement
    where chain = ${chain} and status = 'submitted' and outgoing_id > ${after} order by outgoing_id limit 1)`;
  const { rows } = await sql<{ outgoingId: bigint }>`
    with recursive waiting (outgoing_id, number) as (
      select first.outgoing_id, 1 from ${next(sql`${afterOutgoing}`)} as first
      union all
      select ${next(sql`waiting.outgoing_id`)}, number + 1 from waiting
        where waiting.outgoing_id is not null and number < ${transactionsMax}
    )
    select outgoing_id as "outgoingId" from waiting where outgoing_id is not null order by number`.execute(db.root);
  if (rows.length === 0) return { ineffective: [], lastOutgoing: undefined };
  const outgoingIds = rows.map((row) => row.outgoingId);
  const ineffective = await sql<IneffectiveSettlement>`
    select settlement.id, settlement.intent_id as "intentId", closed.status as "transactionStatus"
    from chain_cursor cross join lateral (
      select id, status, mined_chain_tx from outgoing_transaction
      where id = any(${array(outgoingIds, "int8")}) and status <> 'signed'
        and coalesce(mined_block_number, 0) <= chain_cursor.number
      offset 0
    ) as closed cross join lateral (
      select settlement.id, settlement.intent_id from settlement
      where settlement.chain = ${chain} and settlement.status = 'submitted' and settlement.outgoing_id = closed.id
        and not exists (select from movement
          where movement.chain = ${chain} and movement.chain_tx = closed.mined_chain_tx and movement.direction || '' = 'out'
            and movement.intent_id || '' = settlement.intent_id and movement.orphaned_at is null
            and ${IS_STILL_OBSERVED})
      offset 0
    ) as settlement
    where chain_cursor.chain = ${chain}`.execute(db.root);
  return {
    ineffective: ineffective.rows,
    lastOutgoing: rows.length < transactionsMax ? undefined : outgoingIds.at(-1),
  };
}

/** A page of an intent's settlements, newest first, from below a sequence on. */
export async function listSettlements(
  db: Db,
  { intentId, belowSeq, limit }: { intentId: string; belowSeq: bigint | undefined; limit: number },
): Promise<SettlementRow[]> {
  return (
    db.root
      .selectFrom("settlement")
      .selectAll()
      // In the form of the index, as a range of one id: with an equality the planner may sort all of the intent's
      // settlements.
      .where(sql<boolean>`(intent_id || '') >= ${intentId} and (intent_id || '') <= ${intentId}`)
      .$if(belowSeq !== undefined, (select) => select.where("seq", "<", belowSeq ?? 0n))
      .orderBy(sql`intent_id || ''`, "desc")
      .orderBy("seq", "desc")
      .limit(limit)
      .execute()
  );
}

/** Locks the settlements that are still in one of these states. */
export async function lockSettlements(
  tx: Tx,
  ids: readonly string[],
  statuses: readonly Settlement["status"][],
): Promise<SettlementRow[]> {
  if (ids.length === 0) return [];
  return tx
    .selectFrom("settlement")
    .selectAll()
    .where(sql<boolean>`id = any(${array(ids, "text")})`)
    .where("status", "in", statuses)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Locks the landed settlements of the inboxes' own deposits that these sweeps of a chain landed. */
export async function lockLandedWith(tx: Tx, chain: Caip2, sweeps: readonly SweepName[]): Promise<SettlementRow[]> {
  if (sweeps.length === 0) return [];
  const names = { intent_id: "text", token: "text", chain_tx: "text" } as const;
  const { rows } = await sql<SettlementRow>`
    select settlement.* from settlement where id = any(array(
      select landed.id from ${unnest("sweep", sweeps, names)} cross join lateral (
        select id from settlement swept where swept.chain = ${chain} and swept.chain_tx = sweep.chain_tx
          and swept.intent_id = sweep.intent_id and swept.token = sweep.token and swept.burn_id is null
        offset 0
      ) as landed
    )) and status = 'landed' order by id for update`.execute(tx);
  return rows;
}

export type UnsweptTotal = { intentId: string; units: bigint; lastBlock: bigint };

/** Each intent's counted total on a chain in a token that no sweep has taken, and a block that contains all of it. */
export async function listUnsweptTotals(
  db: Db,
  scope: { chain: Caip2; token: string; intentIds: readonly string[] },
): Promise<UnsweptTotal[]> {
  const { rows } = await sql<UnsweptTotal>`
    select holding.intent_id as "intentId",
      holding.unswept_units - case when ${isNamedByUnreadable("holding")} then holding.rest_counted_units else 0 end as units, greatest(holding.counted_block, holding.rest_block, (
      select max(deposit.block_number) from deposit
      where deposit.status = 'counted' and deposit.settlement_id is null and deposit.intent_id = holding.intent_id
        and deposit.chain = holding.chain and deposit.token = holding.token), (
      select max(mint.block_number) from movement mint
      where mint.in_suspense and mint.intent_id = holding.intent_id and mint.chain = holding.chain and mint.token = holding.token
        and mint.orphaned_at is null)) as "lastBlock"
    from holding where holding.chain = ${scope.chain} and holding.token = ${scope.token}
      and holding.intent_id = any(${array(scope.intentIds, "text")}) and holding.unswept_units > 0`.execute(db.root);
  return rows;
}

/** Those of the settlements whose inbox holds no counted money, so that a sweep has nothing to move. */
export async function listEmptySettlements(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select settlement.id from settlement where settlement.id = any(${array(ids, "text")})
      and coalesce((select holding.unswept_units from holding
        where holding.intent_id = settlement.intent_id and holding.chain = settlement.chain and holding.token = settlement.token), 0) = 0`.execute(
    tx,
  );
  return new Set(rows.map((row) => row.id));
}

/** Bounds the size of a statement. */
const ROWS_MAX = 1_000;

/** Inserts new settlements and updates changed ones. */
export async function writeSettlements(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  const changing = sql.raw(CHANGING_COLUMNS.map((name) => `${name} = excluded.${name}`).join());
  for (let start = 0; start < settlements.length; start += ROWS_MAX) {
    const rows = settlements.slice(start, start + ROWS_MAX);
    await sql`/* named: write_settlements */
      ${insertSettlements(rows)} on conflict (id) do update set ${changing}`.execute(tx);
  }
}

function insertSettlements(settlements: readonly Settlement[]): RawBuilder<unknown> {
  const names = sql.raw(Object.keys(SETTLEMENT_COLUMNS).join());
  return sql`insert into settlement (${names}) select * from ${unnest("written", settlements, SETTLEMENT_COLUMNS)}`;
}

/** The columns that this program writes, in the order of an insert. The compiler requires every one. */
const SETTLEMENT_COLUMNS: Record<keyof Settlement, ElementType> = {
  id: "text",
  intent_id: "text",
  chain: "text",
  token: "text",
  status: "text",
  gross_units: "numeric",
  fee_units: "numeric",
  route_cost_units: "numeric",
  net_units: "numeric",
  reason: "text",
  outgoing_id: "int8",
  chain_tx: "text",
  burn_id: "int8",
  block_number: "int8",
  attempts: "int4",
  retry_at: "timestamptz",
  created_at: "timestamptz",
  submitted_at: "timestamptz",
  landed_at: "timestamptz",
  landed_chain: "text",
  landed_chain_tx: "text",
  landed_block_number: "int8",
  updated_at: "timestamptz",
};

const CHANGING_COLUMNS = [
  "status",
  "gross_units",
  "fee_units",
  "route_cost_units",
  "net_units",
  "reason",
  "outgoing_id",
  "chain_tx",
  "burn_id",
  "block_number",
  "attempts",
  "retry_at",
  "submitted_at",
  "landed_at",
  "landed_chain",
  "landed_chain_tx",
  "landed_block_number",
  "updated_at",
] as const satisfies readonly (keyof Settlement)[];
