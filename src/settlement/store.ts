import { sql, type Insertable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { HandoverCursorTable, OutgoingTransactionStatus, SettlementTable } from "../db/schema.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MovementRow } from "../watch/movement.ts";
import type { Settlement, SettlementRow, Sweep } from "./settlement.ts";

const OPEN_STATUSES = ["planned", "submitted", "bridging", "held"] as const;

/**
 * Movements out of inboxes that changed since the cursor, in commit order. Stops before a movement that is newer than an unprocessed
 * deposit, because a sweep is complete only when all of its deposits are known.
 */
export async function listOutboundMovements(
  tx: Tx,
  cursor: HandoverCursorTable,
  limit: number,
): Promise<MovementRow[]> {
  return tx
    .selectFrom("movement")
    .selectAll()
    .where("chain", "=", cursor.chain)
    .where("direction", "=", "out")
    .where(sql<boolean>`(revision, id) > (${cursor.revision}, ${cursor.movement_id})`)
    .where(
      sql<boolean>`not exists (
        select from movement arrival left join deposit_cursor taken on taken.chain = arrival.chain
        where arrival.chain = movement.chain and arrival.direction = 'in' and arrival.revision <= movement.revision
          and (arrival.revision, arrival.id) > (coalesce(taken.revision, 0), coalesce(taken.movement_id, 0)))`,
    )
    .orderBy("revision")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** All movements out of inboxes in these transactions: the legs of a sweep belong together, across pages. */
export async function listSweepLegs(
  tx: Tx,
  scope: { chain: Caip2; chainTxs: readonly string[] },
): Promise<MovementRow[]> {
  return tx
    .selectFrom("movement")
    .selectAll()
    .where("chain", "=", scope.chain)
    .where("direction", "=", "out")
    .where("chain_tx", "in", scope.chainTxs)
    .execute();
}

/** Locks the settlements that a sweep may match: the one with its transaction, or the open one of its inbox. */
export async function lockInboxSettlements(
  tx: Tx,
  sweep: { intentId: string; chain: Caip2; token: string; chainTx: string },
): Promise<SettlementRow[]> {
  return tx
    .selectFrom("settlement")
    .selectAll()
    .where("intent_id", "=", sweep.intentId)
    .where("chain", "=", sweep.chain)
    .where("token", "=", sweep.token)
    .where((where) => where.or([where("chain_tx", "=", sweep.chainTx), where("status", "in", OPEN_STATUSES)]))
    .orderBy("seq")
    .forUpdate()
    .execute();
}

/**
 * Deposits that a sweep took, counted or not: a sweep empties its inbox, so it took all that came in since the previous one. Only places on
 * the chain decide, so the result does not depend on the order of processing.
 */
export async function listSweptDeposits(tx: Tx, sweep: Sweep): Promise<{ id: string; amountUnits: bigint }[]> {
  const { intentId, chain, token, chainTx, blockNumber, placeLast } = sweep;
  const { rows } = await sql<{ id: string; amountUnits: bigint }>`
    with sweep_before as (
      select block_number, place from movement
      where intent_id = ${intentId} and chain = ${chain} and token = ${token} and direction = 'out' and orphaned_at is null
        and chain_tx <> ${chainTx} and (block_number, place) < (${blockNumber}, ${placeLast})
      order by block_number desc, place desc limit 1
    )
    select deposit.id, deposit.amount_units as "amountUnits"
    from movement arrival join deposit on deposit.movement_id = arrival.id
    where arrival.intent_id = ${intentId} and arrival.chain = ${chain} and arrival.token = ${token} and arrival.direction = 'in'
      and deposit.status <> 'dropped'
      and (arrival.block_number, arrival.place) < (${blockNumber}, ${placeLast})
      and (arrival.block_number, arrival.place) >
        (coalesce((select block_number from sweep_before), -1), coalesce((select place from sweep_before), -1))`.execute(
    tx,
  );
  return rows;
}

/** Counted deposits of these intents that are unassigned although a later sweep has landed, each with the first such sweep. */
export async function listUnassignedSweptDeposits(
  tx: Tx,
  scope: { chain: Caip2; intentIds: readonly string[]; limit: number },
): Promise<{ depositId: string; settlementId: string }[]> {
  const { rows } = await sql<{ depositId: string; settlementId: string }>`
    select deposit.id as "depositId", sweep.id as "settlementId"
    from deposit join movement arrival on arrival.id = deposit.movement_id
    cross join lateral (
      select settlement.id from movement departure join settlement
        on settlement.chain = departure.chain and settlement.chain_tx = departure.chain_tx
        and settlement.intent_id = departure.intent_id and settlement.token = departure.token and settlement.status = 'landed'
      where departure.intent_id = arrival.intent_id and departure.chain = arrival.chain and departure.token = arrival.token
        and departure.direction = 'out' and departure.orphaned_at is null
        and (departure.block_number, departure.place) > (arrival.block_number, arrival.place)
      order by departure.block_number, departure.place limit 1
    ) sweep
    where deposit.chain = ${scope.chain} and deposit.status = 'counted' and deposit.settlement_id is null
      and deposit.intent_id = any(${array(scope.intentIds, "text")})
    limit ${scope.limit}`.execute(tx);
  return rows;
}

export async function listSettlementDepositIds(tx: Tx, settlementId: string): Promise<string[]> {
  const rows = await tx.selectFrom("deposit").select("id").where("settlement_id", "=", settlementId).execute();
  return rows.map((row) => row.id);
}

/**
 * Inboxes on a chain with counted money for which a settlement should be planned, oldest first: those that counted it before
 * `countedBefore`, or after `at`, because a clock that stepped back must not let money wait for the old time. `intentIds` limits the query.
 */
export async function listDueInboxes(
  db: Db["root"],
  scope: { chain: Caip2; countedBefore: Date; at: Date; limit: number; intentIds?: readonly string[] },
): Promise<{ intentId: string; token: string }[]> {
  const { chain, countedBefore, at, limit, intentIds } = scope;
  const isAsked =
    intentIds === undefined ? sql<boolean>`true` : sql<boolean>`intent_id = any(${array(intentIds, "text")})`;
  const { rows } = await sql<{ intentId: string; token: string }>`
    select intent_id as "intentId", token from (
      (select intent_id, token, due_from from holding
        where chain = ${chain} and due_from <= ${countedBefore} and ${isAsked} order by due_from limit ${limit})
      union all
      (select intent_id, token, due_from from holding
        where chain = ${chain} and due_from > ${at} and ${isAsked} order by due_from limit ${limit})
    ) as due order by due_from limit ${limit}`.execute(db);
  return rows;
}

/** Inserts planned settlements; the unique index skips inboxes with an open settlement. */
export async function insertPlannedSettlements(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  if (settlements.length === 0) return;
  await tx
    .insertInto("settlement")
    .values([...settlements])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export type DueSettlement = { settlement: SettlementRow; intent: IntentRow };

/** A chain's settlements that are due, oldest first, with the intents of their inboxes. */
export async function listDueSettlements(
  db: Db,
  scope: { chain: Caip2; at: Date; limit: number },
): Promise<DueSettlement[]> {
  const settlements = await db.root
    .selectFrom("settlement")
    .selectAll()
    .where("chain", "=", scope.chain)
    .where("status", "in", ["planned", "held"])
    .where((where) => where.or([where("retry_at", "is", null), where("retry_at", "<=", scope.at)]))
    .orderBy("seq")
    .limit(scope.limit)
    .execute();
  if (settlements.length === 0) return [];
  const ids = settlements.map((settlement) => settlement.intent_id);
  const intents = await db.root.selectFrom("intent").selectAll().where("id", "in", ids).execute();
  const intentOf = new Map(intents.map((intent) => [intent.id, intent]));
  return settlements.flatMap((settlement) => {
    const intent = intentOf.get(settlement.intent_id);
    return intent ? [{ settlement, intent }] : [];
  });
}

export type IneffectiveSettlement = { id: string; intentId: string; transactionStatus: OutgoingTransactionStatus };

/** Submitted settlements whose transaction is closed within the recorded blocks, without a movement out of their inbox. */
export async function listIneffectiveSettlements(
  db: Db,
  scope: { chain: Caip2; limit: number },
): Promise<IneffectiveSettlement[]> {
  return db.root
    .selectFrom("settlement")
    .innerJoin("outgoing_transaction", "outgoing_transaction.id", "settlement.outgoing_id")
    .innerJoin("chain_cursor", "chain_cursor.chain", "settlement.chain")
    .select(["settlement.id", "settlement.intent_id as intentId", "outgoing_transaction.status as transactionStatus"])
    .where("settlement.chain", "=", scope.chain)
    .where("settlement.status", "=", "submitted")
    .where("outgoing_transaction.status", "<>", "signed")
    .where(sql<boolean>`coalesce(outgoing_transaction.mined_block_number, 0) <= chain_cursor.number`)
    .where(
      sql<boolean>`not exists (select from movement
        where movement.chain = settlement.chain and movement.chain_tx = outgoing_transaction.mined_chain_tx and movement.direction = 'out'
          and movement.intent_id = settlement.intent_id and movement.orphaned_at is null)`,
    )
    .limit(scope.limit)
    .execute();
}

/** A page of an intent's settlements, newest first, from below a sequence on. */
export async function listSettlements(
  db: Db,
  { intentId, belowSeq, limit }: { intentId: string; belowSeq: bigint | undefined; limit: number },
): Promise<SettlementRow[]> {
  return db.root
    .selectFrom("settlement")
    .selectAll()
    .where("intent_id", "=", intentId)
    .$if(belowSeq !== undefined, (select) => select.where("seq", "<", belowSeq ?? 0n))
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
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
    .where("id", "in", ids)
    .where("status", "in", statuses)
    .orderBy("id")
    .forUpdate()
    .execute();
}

export type UnsweptTotal = { intentId: string; units: bigint; lastBlock: bigint };

/** Each intent's counted total on a chain in a token that no sweep has taken, and a block that contains all of it. */
export async function listUnsweptTotals(
  db: Db,
  scope: { chain: Caip2; token: string; intentIds: readonly string[] },
): Promise<UnsweptTotal[]> {
  const { rows } = await sql<UnsweptTotal>`
    select holding.intent_id as "intentId", holding.unswept_units as units, greatest(holding.counted_block, (
      select max(deposit.block_number) from deposit
      where deposit.status = 'counted' and deposit.settlement_id is null and deposit.intent_id = holding.intent_id
        and deposit.chain = holding.chain and deposit.token = holding.token)) as "lastBlock"
    from holding where holding.chain = ${scope.chain} and holding.token = ${scope.token}
      and holding.intent_id = any(${array(scope.intentIds, "text")}) and holding.unswept_units > 0`.execute(db.root);
  return rows;
}

/** Whether counted money still waits in an inbox, so that a sweep has something to move. */
export async function hasUnsweptDeposits(
  tx: Tx,
  inbox: { intent_id: string; chain: Caip2; token: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom("holding")
    .select("intent_id")
    .where("intent_id", "=", inbox.intent_id)
    .where("chain", "=", inbox.chain)
    .where("token", "=", inbox.token)
    .where("unswept_units", ">", 0n)
    .executeTakeFirst();
  return row !== undefined;
}

export async function writeSettlement(tx: Tx, settlement: Settlement & { seq?: bigint }): Promise<void> {
  const { seq: _, ...columns } = settlement;
  const { id, intent_id, chain, token, created_at, ...changing } = columns satisfies Insertable<SettlementTable>;
  await tx
    .insertInto("settlement")
    .values({ id, intent_id, chain, token, created_at, ...changing })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changing))
    .execute();
}
