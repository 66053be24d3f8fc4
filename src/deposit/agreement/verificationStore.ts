import { sql } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { isDue } from "../../db/due.ts";
import { array, json } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../../watch/movement.ts";
import type { ProviderVerdict } from "../../watch/providers/verifyWithProvider.ts";
import type { ProviderVote } from "./agreement.ts";
import { AGREEMENT_REASONS, type Deposit } from "../deposit.ts";

// The verifications of deposits with several providers. Each is a row, so that another process resumes it after a
// crash.

/** Opens a verification for each deposit, due at once. An open verification of the same block stays unchanged. */
export async function insertVerifications(
  tx: Tx,
  { deposits, at }: { deposits: readonly Deposit[]; at: Date },
): Promise<void> {
  if (deposits.length === 0) return;
  await sql`
    insert into deposit_agreement (deposit_id, chain, block_hash, state, answers, attempts, asked_at, retry_at)
    select opened.deposit_id, opened.chain, opened.block_hash, 'asking', '[]', 0, ${at}::timestamptz, ${at}::timestamptz
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
    ) as opened (deposit_id, chain, block_hash)
    on conflict (deposit_id) do update set block_hash = excluded.block_hash, state = 'asking', answers = '[]', attempts = 0,
      asked_at = excluded.asked_at, retry_at = excluded.retry_at
    where deposit_agreement.block_hash <> excluded.block_hash or deposit_agreement.state <> 'asking'`.execute(tx);
}

/** A verification that one process has leased until `leaseUntil`. */
export type ClaimedVerification = {
  depositId: string;
  intentId: string;
  attempts: number;
  leaseUntil: Date;
  movement: MovementRow;
};

/**
 * Leases due verifications until `leaseUntil`, longest due first. `waitMsMax` is the longest lease or delay in
 * milliseconds. Other processes skip them until the lease expires, and resume them if this process crashes.
 */
export async function claimVerifications(
  tx: Tx,
  claim: { chain: Caip2; at: Date; leaseUntil: Date; waitMsMax: number; limit: number },
): Promise<ClaimedVerification[]> {
  const { chain, at, leaseUntil, waitMsMax, limit } = claim;
  const due = await tx
    .selectFrom("deposit_agreement")
    .select("deposit_id")
    .where("chain", "=", chain)
    .where(sql<boolean>`state = 'asking'`)
    .where(isDue("retry_at", { now: at, waitMsMax }))
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
 * Locks a claimed verification until the end of the transaction. Returns false when another process has claimed it
 * since, or when it was reopened: then the votes of the former claim are out of date.
 */
export async function lockClaimedVerification(
  tx: Tx,
  { depositId, leaseUntil }: ClaimedVerification,
): Promise<boolean> {
  const locked = await tx
    .selectFrom("deposit_agreement")
    .select("deposit_id")
    .where("deposit_id", "=", depositId)
    .where("retry_at", "=", leaseUntil)
    .forUpdate()
    .executeTakeFirst();
  return locked !== undefined;
}

export type VerificationUpdate = {
  depositId: string;
  state: "asking" | "agreed";
  votes: readonly ProviderVote[];
  attempts: number;
  retryAt: Date | null;
};

/** Writes the votes of an attempt, and when the next attempt is due; null when it is agreed. */
export async function updateVerification(tx: Tx, update: VerificationUpdate): Promise<void> {
  const answers = update.votes.map((vote) =>
    "failure" in vote ? vote : { ...vote, testimony: serializeVerdict(vote.testimony) },
  );
  await tx
    .updateTable("deposit_agreement")
    .set({ state: update.state, answers: json(answers), attempts: update.attempts, retry_at: update.retryAt })
    .where("deposit_id", "=", update.depositId)
    .execute();
}

function serializeVerdict(providerVerdict: ProviderVerdict): Record<string, string | null> {
  const { verdict, reason, latest, safe, finalized } = providerVerdict;
  return {
    verdict,
    because: reason,
    latest: latest.toString(),
    safe: safe.toString(),
    finalized: finalized.toString(),
  };
}

/** Deletes a verification that is no longer needed. */
export async function deleteVerification(tx: Tx, depositId: string): Promise<void> {
  await tx.deleteFrom("deposit_agreement").where("deposit_id", "=", depositId).execute();
}

/** Deletes up to `limit` verifications that ended in agreement before a time, and returns their number. */
export async function deleteAgreedVerifications(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rows } = await sql`
    delete from deposit_agreement where ctid = any(array(
      select asked.ctid from deposit_agreement asked join deposit on deposit.id = asked.deposit_id
      where asked.state = 'agreed' and asked.asked_at < ${before} and coalesce(deposit.agreed_at, asked.asked_at) < ${before}
      order by asked.asked_at limit ${limit} for update of asked skip locked
    )) returning 1`.execute(db.root);
  return rows.length;
}

export type HeldForAgreement = { chain: Caip2; reason: string; count: bigint };

/** Of a chain and reason. More are counted as this many. */
const COUNTED_MAX = 10_000;

/** Counts the deposits held for agreement, by chain and reason. Reads at most `countedMax` of each. */
export async function countHeldForAgreement(db: Db, countedMax = COUNTED_MAX): Promise<HeldForAgreement[]> {
  const { rows } = await sql<HeldForAgreement>`
    select chain_cursor.chain, asked.reason, held.count
    from chain_cursor cross join unnest(${array(AGREEMENT_REASONS, "text")}) as asked (reason) cross join lateral (
      select count(*) as count from (
        select from deposit where deposit.chain = chain_cursor.chain and deposit.status = 'held'
          and deposit.reason = asked.reason limit ${countedMax}
      ) as read
    ) as held
    where held.count > 0 order by chain_cursor.chain, asked.reason`.execute(db.root);
  return rows;
}
