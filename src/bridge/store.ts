import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { isDue } from "../db/due.ts";
import { array, unnest } from "../db/parameters.ts";
import type { CrossingTable } from "../db/roadSchema.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";

export type Crossing = Selectable<CrossingTable>;

/** A burn by an inbox, as the chain shows it. Units are the token's smallest ones. */
export type Burn = Pick<
  Crossing,
  "movement_id" | "intent_id" | "chain" | "chain_tx" | "token" | "units" | "bridge" | "settle_chain"
>;

const BURN_COLUMNS = {
  movement_id: "int8",
  intent_id: "text",
  chain: "text",
  chain_tx: "text",
  token: "text",
  units: "numeric",
  bridge: "text",
  settle_chain: "text",
} as const;

/** Begins the crossings of burns. A known one stays as it is. */
export async function insertCrossings(tx: Tx, burns: readonly Burn[], at: Date): Promise<void> {
  if (burns.length === 0) return;
  await sql`
    insert into crossing (
      movement_id, intent_id, chain, chain_tx, token, units, bridge, settle_chain, status, retry_at, status_since, created_at,
      updated_at)
    select movement_id, intent_id, chain, chain_tx, token, units, bridge, settle_chain, 'burned', at, at, at, at
    from (select burn.*, ${at}::timestamptz as at
      from ${unnest("burn", burns, BURN_COLUMNS)}) as burn
    on conflict do nothing`.execute(tx);
}

/** Forgets crossings whose burns a reorganisation dropped. */
export async function deleteCrossings(tx: Tx, movementIds: readonly bigint[]): Promise<void> {
  if (movementIds.length === 0) return;
  await sql`delete from crossing where movement_id = any(${array(movementIds, "int8")})`.execute(tx);
}

/** Marks crossings as landed, or as attested again after a reorganisation dropped what they landed with. */
export async function writeLandings(
  tx: Tx,
  change: { movementIds: readonly bigint[]; status: "attested" | "landed"; at: Date },
): Promise<void> {
  if (change.movementIds.length === 0) return;
  await sql`
    update crossing set status = ${change.status}, reason = null, status_since = ${change.at}::timestamptz, updated_at = ${change.at}::timestamptz,
      retry_at = case when ${change.status} = 'landed' then null else ${change.at}::timestamptz end
    where movement_id = any(${array(change.movementIds, "int8")})`.execute(tx);
}

/** The longest wait of a crossing, in milliseconds. */
export const CROSSING_WAIT_MS_MAX = 3_600_000;

const due = (at: Date) => isDue("retry_at", { now: at, waitMsMax: CROSSING_WAIT_MS_MAX });

/** How many burns are due to be asked about, at most `limit`. */
export async function countDueBurns(db: Db, { at, limit }: { at: Date; limit: number }): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (select from crossing where status = 'burned' and ${due(at)} limit ${limit}) as due`.execute(
    db.root,
  );
  return Number(rows[0]?.count ?? 0n);
}

/** `intent`: whose inbox burned. */
export type CrossingOfIntent = { crossing: Crossing; intent: IntentRow };

/** Takes burns that are due, longest waiting first, so that no other process asks about them until `claimedUntil`. */
export async function claimBurns(
  db: Db,
  { at, claimedUntil, limit }: { at: Date; claimedUntil: Date; limit: number },
): Promise<CrossingOfIntent[]> {
  const { rows } = await sql<Crossing>`
    update crossing set retry_at = ${claimedUntil} from (
      select movement_id from crossing where status = 'burned' and ${due(at)}
      order by retry_at, movement_id limit ${limit} for update skip locked
    ) as due
    where crossing.movement_id = due.movement_id
    returning crossing.*`.execute(db.root);
  return withIntents(db, rows);
}

async function withIntents(db: Db, crossings: readonly Crossing[]): Promise<CrossingOfIntent[]> {
  if (crossings.length === 0) return [];
  const ids = [...new Set(crossings.map(({ intent_id }) => intent_id))];
  const intents = await db.root
    .selectFrom("intent")
    .selectAll()
    .where(sql<boolean>`id = any(${array(ids, "text")})`)
    .execute();
  return crossings.flatMap((crossing) => {
    const intent = intents.find(({ id }) => id === crossing.intent_id);
    return intent === undefined ? [] : [{ crossing, intent }];
  });
}

/** What became known of a burn that was asked about. A crossing that has moved on since stays as it is. */
export type BurnChange = { movementId: bigint; reason: string | null; retryAt: Date; at: Date };

export async function postponeBurn(db: Db, { movementId, reason, retryAt, at }: BurnChange): Promise<void> {
  await db.root
    .updateTable("crossing")
    .set(({ eb }) => ({ reason, retry_at: retryAt, attempts: eb("attempts", "+", 1), updated_at: at }))
    .where("movement_id", "=", movementId)
    .where("status", "=", "burned")
    .execute();
}

/** The reason of a burn whose proof the settle chain refused begins with this. */
export const PROOF_REFUSED = "receive_refused";

const isRefused = sql<boolean>`coalesce(crossing.reason like ${`${PROOF_REFUSED}%`}, false)`;

type Proof = { message: string; attestation: string; mint: string; expiresAtBlock: bigint | undefined };

/**
 * Stores the proof of a burn. After a refused one its attempts and times go on. Returns false when another burn of its transaction has this
 * proof, or when the crossing has moved on.
 */
export async function storeProof(
  db: Db,
  { movementId, proof, at }: { movementId: bigint; proof: Proof; at: Date },
): Promise<boolean> {
  const store = sql`
    update crossing set status = 'attested', message = ${proof.message}, attestation = ${proof.attestation}, mint = ${proof.mint},
      expires_at_block = ${proof.expiresAtBlock ?? null}, retry_at = ${at}, updated_at = ${at},
      reason = case when ${isRefused} then reason end, attempts = case when ${isRefused} then attempts else 0 end,
      status_since = case when ${isRefused} then status_since else ${at} end
    where movement_id = ${movementId} and status = 'burned' and not exists (
      select from crossing taken where taken.settle_chain = crossing.settle_chain and taken.mint = ${proof.mint}
        and taken.movement_id <> crossing.movement_id)
    returning movement_id`;
  try {
    const { rows } = await store.execute(db.root);
    return rows.length > 0;
  } catch (error) {
    // Another burn took it at the same moment.
    if (error instanceof Error && "constraint" in error && error.constraint === "crossing_mint") return false;
    throw error;
  }
}

/** Takes attested crossings that are due, as claimBurns does, and returns those without a transaction of ours under way. */
export async function claimAttested(
  db: Db,
  { settleChain, at, claimedUntil, limit }: { settleChain: Caip2; at: Date; claimedUntil: Date; limit: number },
): Promise<CrossingOfIntent[]> {
  const { rows: claimed } = await sql<Crossing & { isSent: boolean }>`
    update crossing set retry_at = ${claimedUntil} from (
      select movement_id from crossing where settle_chain = ${settleChain} and status = 'attested' and ${due(at)}
      order by retry_at, movement_id limit ${limit} for update skip locked
    ) as due
    where crossing.movement_id = due.movement_id
    returning crossing.*, exists (
      select from outgoing_transaction where id = crossing.outgoing_id and status = 'signed') as "isSent"`.execute(
    db.root,
  );
  return withIntents(
    db,
    claimed.filter(({ isSent }) => !isSent),
  );
}

/** Postpones an attested crossing; with `isExpired` its proof is asked for anew. */
export async function postponeAttested(
  db: Db,
  change: { movementId: bigint; reason: string | null; isExpired: boolean; retryAt: Date; at: Date },
): Promise<void> {
  await db.root
    .updateTable("crossing")
    .set(({ eb }) => ({
      status: change.isExpired ? ("burned" as const) : ("attested" as const),
      ...(change.isExpired && { status_since: change.at }),
      reason: change.reason,
      retry_at: change.retryAt,
      attempts: eb("attempts", "+", 1),
      updated_at: change.at,
    }))
    .where("movement_id", "=", change.movementId)
    .where("status", "=", "attested")
    .execute();
}

/** Forgets the proof of an attested crossing, which becomes a burn that is asked about again. */
export async function discardProof(
  db: Db,
  { movementId, reason, attempts, retryAt, at }: BurnChange & { attempts: number },
): Promise<void> {
  const noProof = { message: null, attestation: null, mint: null, expires_at_block: null };
  await db.root
    .updateTable("crossing")
    .set({ ...noProof, status: "burned", reason, attempts, retry_at: retryAt, updated_at: at })
    .where("movement_id", "=", movementId)
    .where("status", "=", "attested")
    .execute();
}

/** Locks a crossing that is still attested and has no other transaction than the one known. False when it has changed. */
export async function lockAttested(
  tx: Tx,
  { movement_id, outgoing_id }: Pick<Crossing, "movement_id" | "outgoing_id">,
): Promise<boolean> {
  const { rows } = await sql`
    select from crossing where movement_id = ${movement_id} and status = 'attested' and outgoing_id is not distinct from ${outgoing_id}
    for update`.execute(tx);
  return rows.length > 0;
}

/** Records our transaction that receives the message. */
export async function writeOutgoing(
  tx: Tx,
  { movementId, outgoingId, retryAt, at }: { movementId: bigint; outgoingId: bigint; retryAt: Date; at: Date },
): Promise<void> {
  await tx
    .updateTable("crossing")
    .set({ outgoing_id: outgoingId, reason: null, retry_at: retryAt, updated_at: at })
    .where("movement_id", "=", movementId)
    .execute();
}

/** Sets when a budget is free again, unless it is still used up. False then. `latest`: a later time was stored before a clock stepped back. */
export async function takeBudget(
  db: Db,
  { name, freeAt, at, latest }: { name: string; freeAt: Date; at: Date; latest: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into bridge_budget (name, free_at) values (${name}, ${freeAt})
    on conflict (name) do update set free_at = excluded.free_at
      where bridge_budget.free_at <= ${at} or bridge_budget.free_at > ${latest}
    returning name`.execute(db.root);
  return rows.length > 0;
}

/** Whether takeBudget would take it. */
export async function isBudgetFree(
  db: Db,
  { name, at, latest }: { name: string; at: Date; latest: Date },
): Promise<boolean> {
  const { rows } = await sql`
    select from bridge_budget where name = ${name} and free_at > ${at} and free_at <= ${latest}`.execute(db.root);
  return rows.length === 0;
}

/** Sets when budgets are free again, whatever was stored. */
export async function closeBudgets(db: Db, names: readonly string[], freeAt: Date): Promise<void> {
  await sql`
    insert into bridge_budget (name, free_at) select name, ${freeAt}::timestamptz from unnest(${array(names, "text")}) as budget (name)
    on conflict (name) do update set free_at = excluded.free_at`.execute(db.root);
}
