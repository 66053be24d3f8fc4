import { sql } from "kysely";
import { countHeldForAgreement } from "../deposit/agreement/verificationStore.ts";
import { findLatestRewind } from "../event/epoch/epochStore.ts";
import { addMs, DAY_MS } from "../kernel/clock.ts";
import { countDifferences } from "../watch/reconcile/balanceStore.ts";
import { countPostponed } from "../watch/postponed/postponedStore.ts";
import { countUnreadable } from "../watch/unreadable/unreadableStore.ts";
import { listProcesses } from "./processStore.ts";
import type { World } from "../world.ts";

/** A settlement that moved nothing is planned again long before. */
const NOT_SHOWN_MS = 3_600_000;
/** Longer than a replaced block takes to be final, also where no provider reports what is. */
const POSTPONED_MS = 3_600_000;
const UNBOUND_MS = 5 * 60_000;
const KEY_EXPIRY_MS = 7 * DAY_MS;
/** One row for each key; more would only repeat the sentence. */
const KEYS_MAX = 20;
/** More are reported as this many. */
const COUNT_MAX = 10_000;

export type RowWorld = Pick<World, "db" | "clock" | "config">;
export type RowProblems = Awaited<ReturnType<typeof readRowProblems>>;

/**
 * What the rows show that an operator should know. Each statement reads a partial index of rows that wait, so its cost
 * does not grow with history.
 */
export async function readRowProblems(world: RowWorld) {
  const { db } = world;
  const [
    held,
    differences,
    unreadable,
    postponed,
    quarantined,
    unshown,
    unbound,
    expiring,
    rewind,
    processes,
    changes,
  ] = await Promise.all([
    countHeldForAgreement(db),
    countDifferences(db),
    countUnreadable(db),
    countPostponed(db, { before: addMs(world.clock.now(), -POSTPONED_MS) }),
    listQuarantined(world),
    listUnshownSweeps(world),
    countUnboundCustomers(world),
    listExpiringKeys(world),
    findLatestRewind(db),
    listProcesses(db, world.clock.now()),
    listPayoutChanges(world),
  ]);
  return {
    held,
    differences,
    unreadable,
    postponed,
    quarantined,
    unshown,
    unbound,
    expiring,
    rewind,
    processes,
    changes,
  };
}

/** Intents whose movements a station could not process, by chain, with the lowest of them. */
function listQuarantined({ db }: RowWorld) {
  return db.root
    .selectFrom("quarantine")
    .select(["chain", sql<bigint>`count(distinct intent_id)`.as("count"), sql<string>`min(intent_id)`.as("intent")])
    .groupBy("chain")
    .execute();
}

type UnshownSweeps = { chain: string; count: bigint; settlement: string; intent: string };

/** Sent settlements whose transaction is closed, and which no movement has landed. */
async function listUnshownSweeps({ db, clock }: RowWorld): Promise<UnshownSweeps[]> {
  const { rows } = await sql<UnshownSweeps>`
    select settlement.chain, count(*) as count, min(settlement.id) as settlement, min(settlement.intent_id) as intent
    from settlement join outgoing_transaction on outgoing_transaction.id = settlement.outgoing_id
    where settlement.status = 'submitted' and settlement.submitted_at < ${addMs(clock.now(), -NOT_SHOWN_MS)}
      and outgoing_transaction.status <> 'signed'
    group by settlement.chain`.execute(db.root);
  return rows;
}

/** Only a remote gate makes an intent wait for its customer. */
async function countUnboundCustomers({ db, clock, config }: RowWorld): Promise<number> {
  if (config.gate === undefined) return 0;
  const unbound = db.root
    .selectFrom("intent")
    .select("id")
    .where("customer_bound_at", "is", null)
    .where("status", "=", "active")
    .where("created_at", "<", addMs(clock.now(), -UNBOUND_MS))
    .limit(COUNT_MAX);
  const row = await db.root
    .selectFrom(unbound.as("unbound"))
    .select(sql<bigint>`count(*)`.as("count"))
    .executeTakeFirst();
  return Number(row?.count ?? 0n);
}

type ExpiringKey = { keyId: string; account: string; expiresAt: Date };

/** A key that was replaced expires as planned, so it is left out. */
type WaitingChange = { changeId: string; account: string; proposedBy: string; dueAt: Date };

/** Changes of payouts that take effect unless somebody stops them, the next first. */
async function listPayoutChanges({ db }: RowWorld): Promise<WaitingChange[]> {
  const { rows } = await sql<WaitingChange>`
    select id as "changeId", account_id as account, proposed_by as "proposedBy", due_at as "dueAt" from payout_change
    where status = 'waiting' order by due_at limit ${KEYS_MAX}`.execute(db.root);
  return rows;
}

async function listExpiringKeys({ db, clock }: RowWorld): Promise<ExpiringKey[]> {
  const now = clock.now();
  const { rows } = await sql<ExpiringKey>`
    select key.key_id as "keyId", key.account_id as account, key.expires_at as "expiresAt" from api_key key
    where key.expires_at > ${now} and key.expires_at < ${addMs(now, KEY_EXPIRY_MS)}
      and key.revoked_at is null and key.last_used_at is not null
      and not exists (select from api_key later where later.account_id = key.account_id and later.revoked_at is null
        and (later.expires_at is null or later.expires_at > key.expires_at))
    order by key.expires_at limit ${KEYS_MAX}`.execute(db.root);
  return rows;
}
