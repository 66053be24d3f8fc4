import { sql, type RawBuilder, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { isDue } from "../db/due.ts";
import { array, unnest } from "../db/parameters.ts";
import type { CrossingTable } from "./bridgeTables.ts";
import { reachesPrice } from "../intent/paymentStatus.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../kernel/clock.ts";

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

/** The queues of a settle chain. See smallBurns.ts. */
export const QUEUE = { inTime: 1, hourly: 2, small: 3 } as const;

// The queue in which a crossing begins. Below the minimum it is small, as dust is, unless it belongs to a price.
// A bridge mints as many units as it burns, so both tokens have the same decimals.
const FIRST_QUEUE = sql`
  case when burn.units >= minimum.units then ${sql.lit(QUEUE.inTime)}
    when ${reachesPrice(sql`burn.units`)} or ${reachesPrice(sql`intent.counted_units`)} and not ${reachesPrice(sql`intent.settled_units`)} then ${sql.lit(QUEUE.hourly)}
    else ${sql.lit(QUEUE.small)} end`;

/**
 * Begins the crossings of burns. A known one stays as it is, unless a reorganisation changed how much it took: then no
 * proof of the former amount is one of it.
 */
export async function insertCrossings(tx: Tx, burns: readonly Burn[], at: Date): Promise<void> {
  if (burns.length === 0) return;
  await sql`
    insert into crossing (
      movement_id, intent_id, chain, chain_tx, proof_tx, token, units, bridge, settle_chain, status, queue, retry_at, status_since,
      created_at, updated_at)
    select burn.movement_id, burn.intent_id, burn.chain, burn.chain_tx, burn.chain_tx, burn.token, burn.units, burn.bridge, burn.settle_chain,
      'burned', ${FIRST_QUEUE}, at, at, at, at
    from (select burn.*, ${at}::timestamptz as at
      from ${unnest("burn", burns, BURN_COLUMNS)}) as burn
    join intent on intent.id = burn.intent_id cross join lateral pinned_minimum(intent, burn.chain, burn.token) as minimum (units)
    on conflict (movement_id) do update set units = excluded.units, status = 'burned', queue = excluded.queue, proof_tx = excluded.proof_tx,
      message = null, attestation = null, mint = null, expires_at_block = null, outgoing_id = null, attempts = 0, reason = null,
      retry_at = excluded.retry_at, status_since = excluded.status_since, updated_at = excluded.updated_at
    where crossing.units <> excluded.units and crossing.status <> 'landed'`.execute(tx);
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

/** A time further ahead was stored before a clock stepped back. */
const latestWait = (at: Date) => addMs(at, CROSSING_WAIT_MS_MAX + CLOCK_DIFFERENCE_MS_MAX);

/** A transaction whose open burns are asked about together. `queue`: of the first of them. */
export type DueTransaction = { chain: Caip2; proof_tx: string; queue: number };

/**
 * Transactions with burns that are due to be asked about: small burns last, else longest waiting first. Reads one burn
 * of each transaction, because anybody can put a thousand burns in one.
 */
export async function listDueTransactions(
  db: Db,
  { at, limit }: { at: Date; limit: number },
): Promise<DueTransaction[]> {
  const scans = Object.values(QUEUE).flatMap((queue) => [
    scanTransactions(queue, { range: sql`retry_at <= ${at}`, limit }),
    scanTransactions(queue, { range: sql`retry_at > ${latestWait(at)}`, limit }),
  ]);
  const { rows } = await sql<DueTransaction>`/* named: list_due_transactions */
    select chain, proof_tx, queue from (${sql.join(scans, sql` union all `)}) as due
    order by queue, retry_at, chain, proof_tx`.execute(db.root);
  const first = new Map(rows.toReversed().map((row) => [`${row.chain}/${row.proof_tx}`, row]));
  return rows.filter((row) => first.get(`${row.chain}/${row.proof_tx}`) === row).slice(0, limit);
}

/** Jumps from transaction to transaction along the index. */
function scanTransactions(queue: number, { range, limit }: { range: RawBuilder<unknown>; limit: number }) {
  const next = (isLater: RawBuilder<unknown>) => sql`(
    select retry_at, chain, proof_tx from crossing
    where status = 'burned' and queue = ${sql.lit(queue)} and ${range} and ${isLater} order by retry_at, chain, proof_tx limit 1)`;
  return sql`(
    with recursive found as (
      select first.*, 1 as number from ${next(sql`true`)} as first
      union all
      select later.*, number + 1 from found cross join lateral ${next(
        sql`(retry_at, chain, proof_tx) > (found.retry_at, found.chain, found.proof_tx)`,
      )} as later
      where number < ${limit}
    ) select retry_at, chain, proof_tx, ${sql.lit(queue)} as queue from found)`;
}

/** `intent`: whose inbox burned. */
export type CrossingOfIntent<Row = Crossing> = { crossing: Row; intent: IntentRow };
/** With the inbox that burned. */
export type ClaimedBurn = CrossingOfIntent<Crossing & { inbox: string }>;

/** Takes the due burns of transactions, so that no other process asks about them until `claimedUntil`. */
export async function claimBurns(
  db: Db,
  { transactions, at, claimedUntil }: { transactions: readonly DueTransaction[]; at: Date; claimedUntil: Date },
): Promise<ClaimedBurn[]> {
  if (transactions.length === 0) return [];
  const { rows } = await sql<Crossing & { inbox: string }>`/* named: claim_burns */
    update crossing set retry_at = ${claimedUntil}
    from ${unnest("claimed", transactions, { chain: "text", proof_tx: "text" })}
    where crossing.status = 'burned' and crossing.chain = claimed.chain and crossing.proof_tx = claimed.proof_tx
      and ${isDue("crossing.retry_at", { now: at, waitMsMax: CROSSING_WAIT_MS_MAX })}
    returning crossing.*,
      (select inbox from movement where movement.id = crossing.movement_id) as inbox`.execute(db.root);
  const inOrder = (one: Crossing, other: Crossing) =>
    one.queue === other.queue ? (one.movement_id < other.movement_id ? -1 : 1) : one.queue - other.queue;
  return withIntents(db, rows.toSorted(inOrder));
}

async function withIntents<Row extends Crossing>(db: Db, crossings: readonly Row[]): Promise<CrossingOfIntent<Row>[]> {
  if (crossings.length === 0) return [];
  const ids = [...new Set(crossings.map(({ intent_id }) => intent_id))];
  const query = sql<IntentRow>`select * from intent where id = any(${array(ids, "text")})`;
  const { rows: intents } = await query.execute(db.root);
  return crossings.flatMap((crossing) => {
    const intent = intents.find(({ id }) => id === crossing.intent_id);
    return intent === undefined ? [] : [{ crossing, intent }];
  });
}

/** What became known of a burn that was asked about. A crossing that has moved on since stays as it is. */
export type BurnChange = { movementId: bigint; reason: string | null; retryAt: Date; at: Date };

const CHANGE_COLUMNS = { movement_id: "int8", reason: "text", proof_tx: "text", retry_at: "timestamptz" } as const;

/**
 * Postpones burns. `proof_tx`: the transaction whose messages are read next. `updated_at` is since when the reason is
 * what it is.
 */
export async function postponeBurns(
  db: Db,
  changes: readonly { movement_id: bigint; reason: string | null; proof_tx: string; retry_at: Date }[],
  at: Date,
): Promise<void> {
  if (changes.length === 0) return;
  await sql`
    update crossing set reason = changed.reason, proof_tx = changed.proof_tx, retry_at = changed.retry_at, attempts = attempts + 1,
      updated_at = case when crossing.reason is distinct from changed.reason then ${at} else crossing.updated_at end
    from ${unnest("changed", changes, CHANGE_COLUMNS)}
    where crossing.movement_id = changed.movement_id and crossing.status = 'burned'`.execute(db.root);
}

/** Why a proven burn of the third queue waits. */
const BELOW_MINIMUM = "below_minimum";
/** The reason of a burn whose proof the settle chain refused begins with this. */
export const PROOF_REFUSED = "receive_refused";

const isRefused = sql<boolean>`coalesce(crossing.reason like ${`${PROOF_REFUSED}%`}, false)`;

/** A crossing that holds a proof. */
export type ProofHolder = Pick<
  Crossing,
  "movement_id" | "intent_id" | "chain" | "chain_tx" | "token" | "units" | "settle_chain"
> & { mint: string };

/** The crossings that hold these proofs. `mint`: the number of a proof. */
export async function listProofHolders(
  db: Db,
  proofs: readonly { settle_chain: Caip2; mint: string }[],
): Promise<ProofHolder[]> {
  if (proofs.length === 0) return [];
  const { rows } = await sql<ProofHolder>`/* named: list_proof_holders */
    select held.movement_id, held.intent_id, held.chain, held.chain_tx, held.token, held.units, held.settle_chain, held.mint
    from ${unnest("asked", proofs, { settle_chain: "text", mint: "text" })}
    cross join lateral (
      select * from crossing where crossing.settle_chain = asked.settle_chain and crossing.mint = asked.mint limit 1) as held`.execute(
    db.root,
  );
  return rows;
}

export type StoredProof = {
  movement_id: bigint;
  /** What the service was asked about: a reorganisation may have changed the burn meanwhile. */
  units: bigint;
  message: string;
  attestation: string;
  mint: string;
  expires_at_block: bigint | null;
};

const PROOF_COLUMNS = {
  movement_id: "int8",
  units: "numeric",
  message: "text",
  attestation: "text",
  mint: "text",
  expires_at_block: "numeric",
} as const;

/**
 * Stores the proofs of burns, and returns the ids of those. After a refused proof a burn's attempts and times go on. A
 * burn is left out when another one has its proof, and when the crossing has moved on or has other units now.
 */
export async function storeProofs(db: Db, proofs: readonly StoredProof[], at: Date): Promise<Set<bigint>> {
  if (proofs.length === 0) return new Set();
  const store = sql<{ movementId: bigint }>`/* named: store_proofs */
    update crossing set status = 'attested', message = proof.message, attestation = proof.attestation, mint = proof.mint,
      expires_at_block = proof.expires_at_block, retry_at = ${at}, updated_at = ${at}, proof_tx = crossing.chain_tx,
      reason = case when ${isRefused} then reason when queue = ${sql.lit(QUEUE.small)} then ${BELOW_MINIMUM} end, attempts = case when ${isRefused} then attempts else 0 end,
      status_since = case when ${isRefused} then status_since else ${at} end
    from ${unnest("proof", proofs, PROOF_COLUMNS)}
    where crossing.movement_id = proof.movement_id and crossing.status = 'burned' and crossing.units = proof.units and not exists (
      select from crossing taken where taken.settle_chain = crossing.settle_chain and taken.mint = proof.mint
        and taken.movement_id <> crossing.movement_id)
    returning crossing.movement_id as "movementId"`;
  try {
    const stored = await store.execute(db.root);
    return new Set(stored.rows.map(({ movementId }) => movementId));
  } catch (error) {
    // Another burn took a proof at the same moment.
    const isTaken = error instanceof Error && "constraint" in error && error.constraint === "crossing_mint";
    if (!isTaken) throw error;
    const [only, ...others] = proofs;
    if (only === undefined || others.length === 0) return new Set();
    const each = [];
    for (const proof of proofs) each.push(...(await storeProofs(db, [proof], at)));
    return new Set(each);
  }
}

type ClaimTimes = Record<"at" | "claimedUntil" | "sentUntil", Date>;
type AttestedClaim = ClaimTimes & { settleChain: Caip2; queue: number; limit: number };

/**
 * Takes attested crossings of a queue that are due, longest waiting first, and returns those without a transaction of
 * ours under way. The others are looked at again at `sentUntil`.
 */
export async function claimAttested(
  db: Db,
  { settleChain, queue, at, claimedUntil, sentUntil, limit }: AttestedClaim,
): Promise<CrossingOfIntent[]> {
  // Two parts, each of which the index returns in its order.
  const waiting = (isInRange: RawBuilder<unknown>) => sql`
    select movement_id from crossing where queue = ${queue} and settle_chain = ${settleChain} and status = 'attested' and ${isInRange}
    order by retry_at limit ${limit} for update skip locked`;
  const { rows } = await sql<Crossing & { isSent: boolean }>`/* named: claim_attested */
    update crossing set retry_at = case when ${IS_SENT} then ${sentUntil}::timestamptz else ${claimedUntil} end from (
      select movement_id from (${waiting(sql`retry_at <= ${at}`)}) as waiting
      union all select movement_id from (${waiting(sql`retry_at > ${latestWait(at)}`)}) as stepped_back
    ) as due
    where crossing.movement_id = due.movement_id
    returning crossing.*, ${IS_SENT} as "isSent"`.execute(db.root);
  return withIntents(
    db,
    rows.filter(({ isSent }) => !isSent),
  );
}

/** Whether a transaction of ours that receives the crossing is under way. */
const IS_SENT = sql`exists (
  select from outgoing_transaction where id = crossing.outgoing_id and status = 'signed')`;

/** Attested crossings of a queue without a transaction of ours under way, dearest first. */
export async function listDearest(
  db: Db,
  { settleChain, queue, limit }: { settleChain: Caip2; queue: number; limit: number },
): Promise<CrossingOfIntent[]> {
  const { rows } = await sql<Crossing & { isSent: boolean }>`/* named: list_dearest */
    select crossing.*, ${IS_SENT} as "isSent" from crossing
    where settle_chain = ${settleChain} and status = 'attested' and queue = ${queue}
    order by units desc, movement_id desc limit ${limit}`.execute(db.root);
  return withIntents(
    db,
    rows.filter(({ isSent }) => !isSent),
  );
}

/** Moves an attested crossing to another queue. */
export async function moveToQueue(
  db: Db,
  { movementId, queue, reason, retryAt, at }: BurnChange & { queue: number },
): Promise<void> {
  await db.root
    .updateTable("crossing")
    .set({ queue, reason, retry_at: retryAt, updated_at: at })
    .where("movement_id", "=", movementId)
    .where("status", "=", "attested")
    .execute();
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

/**
 * Locks a crossing that is still attested and has no other transaction than the one known. False when it has changed.
 */
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
