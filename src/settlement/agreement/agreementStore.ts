import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { isDue } from "../../db/due.ts";
import { array, json, unnest } from "../../db/parameters.ts";
import type { SweepAgreementTable } from "../settlementTables.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../../watch/movement.ts";
import type { SweepLegs, SweepVote } from "./sweepAgreement.ts";

// The verifications of sweeps with several providers, each a row.

export type SweepAgreementRow = Selectable<SweepAgreementTable>;
export type AgreementKey = Pick<SweepAgreementRow, "chain" | "chain_tx" | "intent_id" | "token">;

const KEY_COLUMNS = { chain_tx: "text", intent_id: "text", token: "text" } as const;

/** The agreements of these sweeps, asked or reached. */
export async function listAgreements(
  tx: Tx,
  chain: Caip2,
  keys: readonly Omit<AgreementKey, "chain">[],
): Promise<SweepAgreementRow[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<SweepAgreementRow>`/* named: list_sweep_agreements */
    select agreement.* from ${unnest("named", keys, KEY_COLUMNS)} cross join lateral (
      select * from sweep_agreement where sweep_agreement.chain = ${chain} and sweep_agreement.chain_tx = named.chain_tx
        and sweep_agreement.intent_id = named.intent_id and sweep_agreement.token = named.token
      offset 0
    ) as agreement`.execute(tx);
  return rows;
}

/** Movements read for one intent and token. An intent with more of them above the reread block is over every limit. */
export const OUTFLOWS_READ_MAX = 1_000;

export type RecentOutflow = { intentId: string; token: string; units: bigint; count: bigint };

/**
 * What left each of the intents' inboxes above the last reread block, without what was agreed, by token. Reread blocks
 * are left out, because enough providers have shown them.
 */
export async function listRecentOutflows(
  tx: Tx,
  { chain, intentIds, tokens }: { chain: Caip2; intentIds: readonly string[]; tokens: readonly string[] },
): Promise<RecentOutflow[]> {
  const { rows } = await sql<RecentOutflow>`/* named: list_recent_outflows */
    select asked.intent_id as "intentId", watched.token, recent.units, recent.count
    from chain_cursor cross join unnest(${array(intentIds, "text")}) as asked (intent_id)
    cross join unnest(${array(tokens, "text")}) as watched (token)
    cross join lateral (
      select coalesce(sum(departure.amount_units) filter (where not departure.is_agreed), 0) as units, count(*) as count from (
        select amount_units, exists (
          select from sweep_agreement agreement where agreement.chain = ${chain} and agreement.chain_tx = movement.chain_tx
            and agreement.intent_id = movement.intent_id and agreement.token = movement.token and agreement.state = 'agreed'
            and agreement.legs_revision >= movement.revision
        ) as is_agreed
        from movement
        where movement.intent_id = asked.intent_id and movement.chain = ${chain} and movement.token = watched.token
          and movement.direction = 'out' and movement.orphaned_at is null and movement.block_number > chain_cursor.reread_number
        order by movement.block_number, movement.place limit ${OUTFLOWS_READ_MAX}
      ) as departure
    ) as recent
    where chain_cursor.chain = ${chain} and recent.count > 0`.execute(tx);
  return rows;
}

/** Opens or reopens the verifications of these sweeps, due at once. The caller holds the locks of the intents. */
export async function upsertAgreements(
  tx: Tx,
  { chain, sweeps, at }: { chain: Caip2; sweeps: readonly SweepLegs[]; at: Date },
): Promise<void> {
  if (sweeps.length === 0) return;
  const opened = sweeps.map(({ chainTx, intentId, token, legsRevision, legsCount }) => {
    return { chain_tx: chainTx, intent_id: intentId, token, legs_revision: legsRevision, legs_count: legsCount };
  });
  const columns = { ...KEY_COLUMNS, legs_revision: "int8", legs_count: "int4" } as const;
  await sql`
    insert into sweep_agreement (chain, chain_tx, intent_id, token, legs_revision, legs_count, state, answers, asked_at, retry_at)
    select ${chain}, chain_tx, intent_id, token, legs_revision, legs_count, 'asking', '[]', ${at}::timestamptz, ${at}::timestamptz
    from ${unnest("opened", opened, columns)}
    on conflict (chain, chain_tx, intent_id, token) do update set legs_revision = excluded.legs_revision,
      legs_count = excluded.legs_count, state = 'asking', answers = '[]', attempts = 0, asked_at = excluded.asked_at,
      retry_at = excluded.retry_at`.execute(tx);
}

/** Forgets the verifications of sweeps that the chain does not show any more. */
export async function deleteAgreements(
  tx: Tx,
  chain: Caip2,
  keys: readonly Omit<AgreementKey, "chain">[],
): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from sweep_agreement using ${unnest("named", keys, KEY_COLUMNS)}
    where sweep_agreement.chain = ${chain} and sweep_agreement.chain_tx = named.chain_tx
      and sweep_agreement.intent_id = named.intent_id and sweep_agreement.token = named.token`.execute(tx);
}

/**
 * Leases due verifications until `leaseUntil`, longest due first. Other processes skip them until the lease expires,
 * and resume them if this process crashes. `waitMsMax` is the longest lease or delay in milliseconds.
 */
export async function claimAgreements(
  tx: Tx,
  claim: { chain: Caip2; at: Date; leaseUntil: Date; waitMsMax: number; limit: number },
): Promise<SweepAgreementRow[]> {
  const { chain, at, leaseUntil, waitMsMax, limit } = claim;
  const { rows } = await sql<SweepAgreementRow>`
    update sweep_agreement set retry_at = ${leaseUntil} where ctid = any(array(
      select ctid from sweep_agreement where chain = ${chain} and state = 'asking' and ${isDue("retry_at", { now: at, waitMsMax })}
      order by retry_at limit ${limit} for update skip locked
    )) returning *`.execute(tx);
  return rows;
}

/** The live movements of a sweep, in the order of their places. */
export async function listLegs(db: Db["root"], key: AgreementKey): Promise<MovementRow[]> {
  return (
    db
      .selectFrom("movement")
      .selectAll()
      .where("chain", "=", key.chain)
      .where("chain_tx", "=", key.chain_tx)
      // By the transaction, and not by the index of the inbox.
      .where(sql<boolean>`intent_id || '' = ${key.intent_id}`)
      .where("token", "=", key.token)
      .where(sql<boolean>`direction || '' = 'out'`)
      .where("orphaned_at", "is", null)
      .orderBy("place")
      .execute()
  );
}

/**
 * Locks a claimed verification. Returns false when another process has claimed it since, or when it was reopened or is
 * gone.
 */
export async function lockClaimedAgreement(tx: Tx, claimed: SweepAgreementRow): Promise<boolean> {
  const locked = await tx
    .selectFrom("sweep_agreement")
    .select("chain")
    .where("chain", "=", claimed.chain)
    .where("chain_tx", "=", claimed.chain_tx)
    .where("intent_id", "=", claimed.intent_id)
    .where("token", "=", claimed.token)
    .where("retry_at", "=", claimed.retry_at)
    .where("legs_revision", "=", claimed.legs_revision)
    .where("legs_count", "=", claimed.legs_count)
    .forUpdate()
    .executeTakeFirst();
  return locked !== undefined;
}

/** Writes the votes of an attempt, and when the next one is due; null when the sweep is agreed. */
export async function updateAgreement(
  tx: Tx,
  key: AgreementKey,
  update: { votes: readonly SweepVote[]; attempts: number; retryAt: Date | null },
): Promise<void> {
  await tx
    .updateTable("sweep_agreement")
    .set({
      state: update.retryAt === null ? "agreed" : "asking",
      answers: json(update.votes),
      attempts: update.attempts,
      retry_at: update.retryAt,
    })
    .where("chain", "=", key.chain)
    .where("chain_tx", "=", key.chain_tx)
    .where("intent_id", "=", key.intent_id)
    .where("token", "=", key.token)
    .execute();
}

/** Deletes up to `limit` agreements that were reached before a time, and returns their number. */
export async function deleteOldAgreements(db: Db, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from sweep_agreement where ctid = any(array(
      select ctid from sweep_agreement where state = 'agreed' and asked_at < ${before}
      order by asked_at limit ${limit} for update skip locked
    )) returning 1`.execute(db.root);
  return rows.length;
}
