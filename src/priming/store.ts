import { sql } from "kysely";
import type { PrimingConfig } from "../config/config.ts";
import type { Db, Tx } from "../db/database.ts";
import { isDue } from "../db/due.ts";
import { array } from "../db/parameters.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { KEEP_MS_MAX, LOOK_MS_MAX, type PrimedAccount } from "./primedAccount.ts";

// All SQL about primed accounts. Every statement reads open rows, which the configured limit keeps few, or those of one
// merchant account's last hour.

export type AccountKey = { readonly chain: Caip2; readonly intentId: string; readonly token: string };

/**
 * The first half of the advisory lock's key. The value is arbitrary. Locks belong to the database, so the second half
 * names the schema too.
 */
const ADMISSION_LOCK = 1_347_570_253;
const HOUR_MS = 3_600_000;

/** Keeps the open account of an intent for longer. Returns false when it has none. */
export async function extendPrimedAccount(
  db: Db,
  { chain, intentId, token }: AccountKey,
  { at, keepMs }: { at: Date; keepMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    update primed_account set keep_until = case when status = 'closing' then keep_until
      else greatest(keep_until, least(${addMs(at, keepMs)}::timestamptz, created_at + ${KEEP_MS_MAX}::int8 * interval '1 millisecond')) end
    where chain = ${chain} and intent_id = ${intentId} and token = ${token} and status <> 'closed' returning 1`.execute(
    db.root,
  );
  return rows.length > 0;
}

/**
 * Plans an account within the limits, and returns whether it did. A lock of the chain orders admissions of all
 * processes, so that the counts are exact.
 */
export async function insertWithinLimits(
  tx: Tx,
  account: AccountKey & { accountId: string; at: Date },
  limits: PrimingConfig,
): Promise<boolean> {
  const { chain, intentId, accountId, token, at } = account;
  await sql`select pg_advisory_xact_lock(${ADMISSION_LOCK}::int4, hashtext(current_schema() || ' ' || ${chain}))`.execute(
    tx,
  );
  const { rows } = await sql`
    insert into primed_account (chain, intent_id, account_id, token, status, keep_until, retry_at, created_at)
    select ${chain}, ${intentId}, ${accountId}, ${token}, 'planned', ${addMs(at, limits.keepMs)}, ${at}, ${at}
    from (select count(*) as total, count(*) filter (where account_id = ${accountId}) as own
      from primed_account where chain = ${chain} and status <> 'closed') as open
    cross join (select count(*) as total from primed_account
      where account_id = ${accountId} and chain = ${chain} and created_at > ${addMs(at, -HOUR_MS)}) as recent
    where open.total < ${limits.openTotal} and open.own < ${limits.openPerAccount} and recent.total < ${limits.hourlyPerAccount}
    on conflict do nothing returning 1`.execute(tx);
  return rows.length > 0;
}

/** Notes an account whose creation another station signed. One that is known stays as it is. */
export async function insertOpening(
  tx: Tx,
  opening: AccountKey & { accountId: string; outgoingId: bigint; keepUntil: Date; at: Date },
): Promise<void> {
  const { chain, intentId, accountId, token, outgoingId, keepUntil, at } = opening;
  const key = { chain, intent_id: intentId, account_id: accountId, token, outgoing_id: outgoingId };
  await tx
    .insertInto("primed_account")
    .values({ ...key, status: "submitted", keep_until: keepUntil, retry_at: at, created_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export type DueAccount = { readonly row: PrimedAccount; readonly intent: IntentRow };

/** The due accounts of a chain in one state with their intents, oldest first. */
export async function listDueAccounts(
  db: Db,
  scope: { chain: Caip2; status: "planned" | "open"; at: Date; limit: number },
): Promise<DueAccount[]> {
  const { rows } = await sql<PrimedAccount>`
    select * from primed_account
    where chain = ${scope.chain} and status <> 'closed' and status = ${scope.status}
      and ${isDue("retry_at", { now: scope.at, waitMsMax: LOOK_MS_MAX })}
    order by id limit ${scope.limit}`.execute(db.root);
  const intents = await findIntents(
    db,
    rows.map((row) => row.intent_id),
  );
  return rows.flatMap((row) => {
    const intent = intents.get(row.intent_id);
    return intent === undefined ? [] : [{ row, intent }];
  });
}

async function findIntents(db: Db, ids: readonly string[]): Promise<Map<string, IntentRow>> {
  if (ids.length === 0) return new Map();
  const intents = await db.root
    .selectFrom("intent")
    .selectAll()
    .where(sql<boolean>`id = any(${array(ids, "text")})`)
    .execute();
  return new Map(intents.map((intent) => [intent.id, intent]));
}

/** How many accounts' creation is signed and not final: what they lock may not show in the payer's balance yet. */
export async function countSubmitted(db: Db, chain: Caip2): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from primed_account
    where chain = ${chain} and status <> 'closed' and status = 'submitted'`.execute(db.root);
  return rows[0]?.count ?? 0n;
}

/** How many accounts of each chain are planned, open or being closed. */
export async function countOpenAccounts(db: Db): Promise<{ chain: Caip2; count: bigint }[]> {
  const { rows } = await sql<{ chain: Caip2; count: bigint }>`
    select chain, count(*) as count from primed_account where status <> 'closed' and chain > '' group by chain`.execute(
    db.root,
  );
  return rows;
}

/** Locks those of the rows that are still in this state, in the order of their ids. */
export async function lockInState(
  tx: Tx,
  ids: readonly bigint[],
  status: PrimedAccount["status"],
): Promise<PrimedAccount[]> {
  return tx
    .selectFrom("primed_account")
    .selectAll()
    .where(sql<boolean>`id = any(${array(ids, "int8")})`)
    .where("status", "=", status)
    .orderBy("id")
    .forUpdate()
    .execute();
}

export type ClosedTransaction = { row: PrimedAccount; transaction: "mined" | "reverted" | "lost" };

/** The accounts of a chain whose transaction has closed. */
export async function listAfterTransaction(
  db: Db,
  { chain, limit }: { chain: Caip2; limit: number },
): Promise<ClosedTransaction[]> {
  const { rows } = await sql<PrimedAccount & { transaction: ClosedTransaction["transaction"] }>`
    select primed_account.*, outgoing_transaction.status as transaction
    from primed_account join outgoing_transaction on outgoing_transaction.id = primed_account.outgoing_id
    where primed_account.chain = ${chain} and primed_account.status <> 'closed' and primed_account.status in ('submitted','closing')
      and outgoing_transaction.status <> 'signed'
    order by primed_account.id limit ${limit}`.execute(db.root);
  return rows.map(({ transaction, ...row }) => ({ row, transaction }));
}

type PrimedChange = Partial<Pick<PrimedAccount, "status" | "reason" | "outgoing_id" | "retry_at" | "closed_at">>;

/** Changes locked rows. */
export async function changeLocked(tx: Tx, ids: readonly bigint[], change: PrimedChange): Promise<void> {
  await tx
    .updateTable("primed_account")
    .set(change)
    .where(sql<boolean>`id = any(${array(ids, "int8")})`)
    .execute();
}

/** Changes a row, unless another process has changed its state or its transaction since it was read. */
export async function changeUnlocked(db: Db, row: PrimedAccount, change: PrimedChange): Promise<void> {
  await db.root
    .updateTable("primed_account")
    .set(change)
    .where("id", "=", row.id)
    .where("status", "=", row.status)
    .where(sql<boolean>`outgoing_id is not distinct from ${row.outgoing_id}::int8`)
    .execute();
}

/** Deletes up to `limit` rows that closed before a time, and returns their number. */
export async function deleteClosedAccounts(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rows } = await sql`
    delete from primed_account where id = any(array(
      select id from primed_account where closed_at < ${before} order by closed_at limit ${limit} for update skip locked
    )) returning 1`.execute(db.root);
  return rows.length;
}
