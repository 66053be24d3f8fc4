import { sql, type Insertable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array, json } from "../db/parameters.ts";
import type { DepositTable, HandoverCursorTable } from "../db/schema.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MovementRow } from "../watch/movement.ts";
import type { ProviderVerdict } from "../watch/providers/verifyWithProvider.ts";
import type { ProviderVote, SingleProviderTotal } from "./agreement.ts";
import { AGREEMENT_REASONS, type Deposit, type DepositRow } from "./deposit.ts";
import type { ChainHead } from "./finality.ts";

/** Movements into inboxes that changed since the cursor, in the order in which the changes were committed. */
export async function listInboundMovements(tx: Tx, cursor: HandoverCursorTable, limit: number): Promise<MovementRow[]> {
  return tx
    .selectFrom("movement")
    .selectAll()
    .where("chain", "=", cursor.chain)
    .where("direction", "=", "in")
    .where(sql<boolean>`(revision, id) > (${cursor.revision}, ${cursor.movement_id})`)
    .orderBy("revision")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Those of the intents of which more was recorded than the cursor has passed: what they have by our rows is not what the chain says. */
export async function listIntentsWithPendingMovements(
  tx: Tx,
  cursor: HandoverCursorTable,
  intentIds: readonly string[],
): Promise<Set<string>> {
  if (intentIds.length === 0) return new Set();
  const rows = await tx
    .selectFrom("movement")
    .select("intent_id")
    .distinct()
    .where("chain", "=", cursor.chain)
    .where("direction", "=", "in")
    .where(sql<boolean>`(revision, id) > (${cursor.revision}, ${cursor.movement_id})`)
    .where("intent_id", "in", intentIds)
    .execute();
  return new Set(rows.map((row) => row.intent_id));
}

/**
 * What a decision about these intents has to look at: every deposit that is not counted yet but may be, those that the given movements
 * made, and on `chain` those counted in blocks above `aboveBlock`, which may still be exposed to a reorg.
 */
export async function listDepositsToDecide(
  tx: Tx,
  scope: { intentIds: readonly string[]; movementIds: readonly bigint[]; chain: Caip2; aboveBlock: bigint },
): Promise<DepositRow[]> {
  if (scope.intentIds.length === 0) return [];
  return tx
    .selectFrom("deposit")
    .selectAll()
    .where("intent_id", "in", scope.intentIds)
    .where((where) =>
      where.or([
        where("status", "in", ["seen", "confirmed"]),
        where.and([where("status", "=", "held"), where("reason", "in", AGREEMENT_REASONS)]),
        where.and([where("chain", "=", scope.chain), where("block_number", ">", scope.aboveBlock)]),
        ...(scope.movementIds.length > 0 ? [where("movement_id", "in", scope.movementIds)] : []),
      ]),
    )
    .orderBy("seq")
    .execute();
}

/** Intents with a deposit that waits for its block to become final, and whose block is at most `uptoBlock`; a page in block order. */
export async function listPendingIntents(
  tx: Tx,
  scope: { chain: Caip2; uptoBlock: bigint; after: { blockNumber: bigint; seq: bigint }; limit: number },
): Promise<{ intentId: string; blockNumber: bigint; seq: bigint }[]> {
  return tx
    .selectFrom("deposit")
    .select(["intent_id as intentId", "block_number as blockNumber", "seq"])
    .where("chain", "=", scope.chain)
    .where("status", "=", "seen")
    .where("block_number", "<=", scope.uptoBlock)
    .where(sql<boolean>`(block_number, seq) > (${scope.after.blockNumber}, ${scope.after.seq})`)
    .orderBy("block_number")
    .orderBy("seq")
    .limit(scope.limit)
    .execute();
}

export async function listHeads(tx: Tx): Promise<Map<string, ChainHead>> {
  const rows = await tx
    .selectFrom("chain_cursor")
    .select(["chain", "number", "safe_number", "finalized_number"])
    .execute();
  return new Map(
    rows.map((row) => [
      row.chain,
      { chain: row.chain, number: row.number, safeNumber: row.safe_number, finalizedNumber: row.finalized_number },
    ]),
  );
}

/** A statement takes 65,535 parameters, and anybody can send one inbox more transfers than fit into it. */
const ROWS_MAX = 1_000;

/** Writes new deposits and changed ones alike; a deposit is known by the movement that made it. */
export async function writeDeposits(tx: Tx, deposits: readonly Deposit[]): Promise<void> {
  const rows = deposits.map((deposit) => depositColumns(deposit));
  for (let start = 0; start < rows.length; start += ROWS_MAX) await writeRows(tx, rows.slice(start, start + ROWS_MAX));
}

async function writeRows(tx: Tx, rows: readonly Insertable<DepositTable>[]): Promise<void> {
  await tx
    .insertInto("deposit")
    .values([...rows])
    .onConflict((conflict) =>
      conflict.column("movement_id").doUpdateSet((excluded) => ({
        sender: excluded.ref("excluded.sender"),
        amount_units: excluded.ref("excluded.amount_units"),
        counted_units: excluded.ref("excluded.counted_units"),
        status: excluded.ref("excluded.status"),
        reason: excluded.ref("excluded.reason"),
        block_number: excluded.ref("excluded.block_number"),
        block_hash: excluded.ref("excluded.block_hash"),
        required_confirmations: excluded.ref("excluded.required_confirmations"),
        settlement_id: excluded.ref("excluded.settlement_id"),
        confirmed_at: excluded.ref("excluded.confirmed_at"),
        counted_at: excluded.ref("excluded.counted_at"),
        agreed_at: excluded.ref("excluded.agreed_at"),
        updated_at: excluded.ref("excluded.updated_at"),
      })),
    )
    .execute();
}

/** A row read from the table carries its `seq`, which is not ours to write. */
function depositColumns(deposit: Deposit & { seq?: bigint }): Insertable<DepositTable> {
  const { seq: _, ...columns } = deposit;
  return columns;
}

/** The sweep that took deposits along, or null when a reorg undid it. Called by the settlement station under the intent's lock. */
export async function assignSettlement(
  tx: Tx,
  depositIds: readonly string[],
  settlementId: string | null,
): Promise<void> {
  if (depositIds.length === 0) return;
  await tx
    .updateTable("deposit")
    .set({ settlement_id: settlementId })
    .where(sql<boolean>`id = any(${array(depositIds, "text")})`)
    .execute();
}

// The questions put to several providers, and what they answered. A question outlives the process that asks it.

/** What was counted of these intents on one provider's word. */
export async function listSingleProviderTotals(tx: Tx, intentIds: readonly string[]): Promise<SingleProviderTotal[]> {
  const { rows } = await sql<SingleProviderTotal>`
    select intent_id as "intentId", chain, token_decimals as decimals, sum(amount_units) as units from deposit
    where status = 'counted' and agreed_at is null and intent_id = any(${array(intentIds, "text")})
    group by intent_id, chain, token_decimals`.execute(tx);
  return rows;
}

/** Asks for agreement on deposits, at once; a question that is open about the same block stays as it is. */
export async function insertVerifications(
  tx: Tx,
  { deposits, at }: { deposits: readonly Deposit[]; at: Date },
): Promise<void> {
  if (deposits.length === 0) return;
  await sql`
    insert into deposit_agreement (deposit_id, chain, block_hash, state, answers, attempts, asked_at, retry_at)
    select asked.deposit_id, asked.chain, asked.block_hash, 'asking', '[]', 0, ${at}::timestamptz, ${at}::timestamptz
    from unnest(
      ${array(
        deposits.map((deposit) => deposit.id),
        "text",
      )},
      ${array(
        deposits.map((deposit) => deposit.chain),
        "text",
      )},
      ${array(
        deposits.map((deposit) => deposit.block_hash),
        "text",
      )}
    ) as asked (deposit_id, chain, block_hash)
    on conflict (deposit_id) do update set block_hash = excluded.block_hash, state = 'asking', answers = '[]', attempts = 0,
      asked_at = excluded.asked_at, retry_at = excluded.retry_at
    where deposit_agreement.block_hash <> excluded.block_hash or deposit_agreement.state <> 'asking'`.execute(tx);
}

/** A question that a process has to itself until `leaseUntil`. */
export type ClaimedVerification = {
  depositId: string;
  intentId: string;
  attempts: number;
  leaseUntil: Date;
  movement: MovementRow;
};

/**
 * Takes questions that are due, the oldest first, and puts them off until `leaseUntil`, so that another process leaves them alone and
 * takes them over should this one die.
 */
export async function claimVerifications(
  tx: Tx,
  { chain, at, leaseUntil, limit }: { chain: Caip2; at: Date; leaseUntil: Date; limit: number },
): Promise<ClaimedVerification[]> {
  const due = await tx
    .selectFrom("deposit_agreement")
    .select("deposit_id")
    .where("chain", "=", chain)
    .where("state", "=", "asking")
    .where("retry_at", "<=", at)
    .orderBy("retry_at")
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
  const ids = due.map((row) => row.deposit_id);
  if (ids.length === 0) return [];
  const claimed = await tx
    .updateTable("deposit_agreement")
    .set({ retry_at: leaseUntil })
    .where("deposit_id", "in", ids)
    .returning(["deposit_id", "attempts"])
    .execute();
  const attempts = new Map(claimed.map((row) => [row.deposit_id, row.attempts]));
  const movements = await tx
    .selectFrom("movement")
    .innerJoin("deposit", "deposit.movement_id", "movement.id")
    .selectAll("movement")
    .select("deposit.id as depositId")
    .where("deposit.id", "in", ids)
    .execute();
  return movements.map(({ depositId, ...movement }) => ({
    depositId,
    intentId: movement.intent_id,
    attempts: attempts.get(depositId) ?? 0,
    leaseUntil,
    movement,
  }));
}

/**
 * Locks a question that was claimed, until the end of the transaction. False where somebody else has claimed it since, or it is asked anew:
 * then what its former holder heard is out of date.
 */
export async function lockClaimedVerification(
  tx: Tx,
  { depositId, leaseUntil }: ClaimedVerification,
): Promise<boolean> {
  const held = await tx
    .selectFrom("deposit_agreement")
    .select("deposit_id")
    .where("deposit_id", "=", depositId)
    .where("retry_at", "=", leaseUntil)
    .forUpdate()
    .executeTakeFirst();
  return held !== undefined;
}

export type VerificationUpdate = {
  depositId: string;
  state: "asking" | "agreed";
  votes: readonly ProviderVote[];
  attempts: number;
  retryAt: Date | null;
};

/** Writes what the providers said. */
export async function updateVerification(tx: Tx, update: VerificationUpdate): Promise<void> {
  const answers = update.votes.map((answer) =>
    "failure" in answer ? answer : { ...answer, testimony: serializeVerdict(answer.testimony) },
  );
  await tx
    .updateTable("deposit_agreement")
    .set({ state: update.state, answers: json(answers), attempts: update.attempts, retry_at: update.retryAt })
    .where("deposit_id", "=", update.depositId)
    .execute();
}

function serializeVerdict(testimony: ProviderVerdict): Record<string, string | null> {
  const { verdict, reason, latest, safe, finalized } = testimony;
  return {
    verdict,
    because: reason,
    latest: latest.toString(),
    safe: safe.toString(),
    finalized: finalized.toString(),
  };
}

/** Forgets a question that nobody needs an answer to any more. */
export async function deleteVerification(tx: Tx, depositId: string): Promise<void> {
  await tx.deleteFrom("deposit_agreement").where("deposit_id", "=", depositId).execute();
}

export type HeldForAgreement = { chain: Caip2; reason: string; count: bigint };

/** How many deposits of a chain are held because their providers do not agree, by reason. */
export async function countHeldForAgreement(db: Db): Promise<HeldForAgreement[]> {
  return db.root
    .selectFrom("deposit")
    .select(["chain", sql<string>`reason`.as("reason"), sql<bigint>`count(*)`.as("count")])
    .where("status", "=", "held")
    .where("reason", "in", AGREEMENT_REASONS)
    .groupBy(["chain", "reason"])
    .execute();
}
