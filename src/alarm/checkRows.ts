import { sql } from "kysely";
import { countHeldForAgreement } from "../deposit/agreement/verificationStore.ts";
import { isAgreementReason } from "../deposit/deposit.ts";
import { findLatestRewind } from "../event/epoch/epochStore.ts";
import { addMs, DAY_MS, hasElapsed } from "../kernel/clock.ts";
import { readOpenRows, type OpenRows } from "../health/openRows.ts";
import { countDifferences } from "../watch/reconcile/balanceStore.ts";
import { countUnreadable } from "../watch/unreadable/unreadableStore.ts";
import type { World } from "../world.ts";
import type { AlarmCondition } from "./alarm.ts";
import { checkCrossings } from "./checkBridge.ts";

/** A settlement that moved nothing is planned again long before. */
const NOT_SHOWN_MS = 3_600_000;
const UNBOUND_MS = 5 * 60_000;
const REWOUND_MS = DAY_MS;
const KEY_EXPIRY_MS = 7 * DAY_MS;
/** One alarm for each key; more would only repeat the sentence. */
const KEYS_MAX = 20;

export type RowCheckWorld = Pick<World, "db" | "clock" | "config">;

/**
 * The alarms that the database shows. Every statement uses an index of open rows, so its cost does not grow with
 * history.
 */
export async function checkRows(world: RowCheckWorld): Promise<AlarmCondition[]> {
  const groups = await Promise.all([
    checkHeldDeposits(world),
    checkDifferences(world),
    checkUnreadable(world),
    checkQuarantine(world),
    checkOpenRows(world),
    checkSweeps(world),
    checkCustomers(world),
    checkKeys(world),
    checkCrossings(world),
    checkRewind(world),
  ]);
  return groups.flat();
}

async function checkRewind({ db, clock }: RowCheckWorld): Promise<AlarmCondition[]> {
  const rewind = await findLatestRewind(db);
  if (rewind === undefined || hasElapsed(REWOUND_MS, { since: rewind.beganAt, now: clock.now() })) return [];
  const { epoch, reason, beganAt } = rewind;
  return [{ alarm: "database_rewound", subject: "", facts: { epoch, reason, noticedAt: beganAt.toISOString() } }];
}

async function checkHeldDeposits({ db }: RowCheckWorld): Promise<AlarmCondition[]> {
  const held = await countHeldForAgreement(db);
  return held.flatMap(({ reason, chain, count }) =>
    isAgreementReason(reason) ? [{ alarm: reason, subject: chain, facts: { chain, deposits: Number(count) } }] : [],
  );
}

async function checkDifferences({ db }: RowCheckWorld): Promise<AlarmCondition[]> {
  return (await countDifferences(db)).map(({ chain, count }) => ({
    alarm: "balance_differs",
    subject: chain,
    facts: { chain, balances: Number(count) },
  }));
}

async function checkUnreadable({ db }: RowCheckWorld): Promise<AlarmCondition[]> {
  return (await countUnreadable(db)).map(({ chain, rows, inboxRows, leftOut, reason, inbox }) => ({
    alarm: "unreadable_rows",
    subject: chain,
    facts: { chain, rows: Number(rows), namingInboxes: Number(inboxRows), leftOut: Number(leftOut), reason, inbox },
  }));
}

async function checkQuarantine({ db }: RowCheckWorld): Promise<AlarmCondition[]> {
  const rows = await db.root
    .selectFrom("quarantine")
    .select(["chain", sql<bigint>`count(distinct intent_id)`.as("count"), sql<string>`min(intent_id)`.as("intent")])
    .groupBy("chain")
    .execute();
  return rows.map(({ chain, count, intent }) => ({
    alarm: "intent_quarantined",
    subject: chain,
    facts: { chain, intents: Number(count), intent },
  }));
}

async function checkOpenRows(world: RowCheckWorld): Promise<AlarmCondition[]> {
  const open = await readOpenRows(world);
  const lateDeposits = sumLate(open.filter(({ kind }) => kind === "deposit"));
  const latePayouts = sumLate(open.filter(({ kind }) => kind !== "deposit"));
  return [
    ...open.flatMap(({ chain, kind, status, count, intent }): AlarmCondition[] =>
      kind === "settlement" && status === "held"
        ? [{ alarm: "settlement_held", subject: chain, facts: { chain, settlements: count, intent } }]
        : [],
    ),
    ...latePayouts.map(({ chain, count }): AlarmCondition => {
      return { alarm: "settlements_late", subject: chain, facts: { chain, payouts: count } };
    }),
    ...lateDeposits.map(({ chain, count, intent }): AlarmCondition => {
      return { alarm: "deposits_late", subject: chain, facts: { chain, deposits: count, intent } };
    }),
  ];
}

/** By chain, with one of their intents. */
function sumLate(rows: readonly OpenRows[]): { chain: string; count: number; intent: string }[] {
  const sums = new Map<string, { chain: string; count: number; intent: string }>();
  for (const { chain, late } of rows) {
    if (late === undefined) continue;
    const known = sums.get(chain);
    sums.set(chain, { chain, count: late.count + (known?.count ?? 0), intent: known?.intent ?? late.intent });
  }
  return [...sums.values()];
}

/** Sent settlements whose transaction is closed, and which no movement has landed. */
async function checkSweeps({ db, clock }: RowCheckWorld): Promise<AlarmCondition[]> {
  const { rows } = await sql<{ chain: string; count: bigint; settlement: string; intent: string }>`
    select settlement.chain, count(*) as count, min(settlement.id) as settlement, min(settlement.intent_id) as intent
    from settlement join outgoing_transaction on outgoing_transaction.id = settlement.outgoing_id
    where settlement.status = 'submitted' and settlement.submitted_at < ${addMs(clock.now(), -NOT_SHOWN_MS)}
      and outgoing_transaction.status <> 'signed'
    group by settlement.chain`.execute(db.root);
  return rows.map(({ chain, count, ...first }) => ({
    alarm: "sweep_not_shown",
    subject: chain,
    facts: { chain, settlements: Number(count), ...first },
  }));
}

/** Only a remote gate makes an intent wait for its customer. */
async function checkCustomers({ db, clock, config }: RowCheckWorld): Promise<AlarmCondition[]> {
  if (config.gate === undefined) return [];
  const row = await db.root
    .selectFrom("intent")
    .select(sql<bigint>`count(*)`.as("count"))
    .where("customer_bound_at", "is", null)
    .where("status", "=", "active")
    .where("created_at", "<", addMs(clock.now(), -UNBOUND_MS))
    .executeTakeFirst();
  const count = Number(row?.count ?? 0n);
  return count === 0 ? [] : [{ alarm: "customers_unbound", subject: "", facts: { intents: count } }];
}

/** A key that was replaced expires as planned, so it is left out. */
async function checkKeys({ db, clock }: RowCheckWorld): Promise<AlarmCondition[]> {
  const now = clock.now();
  const { rows } = await sql<{ key_id: string; account_id: string; expires_at: Date }>`
    select key.key_id, key.account_id, key.expires_at from api_key key
    where key.expires_at > ${now} and key.expires_at < ${addMs(now, KEY_EXPIRY_MS)}
      and key.revoked_at is null and key.last_used_at is not null
      and not exists (select from api_key later where later.account_id = key.account_id and later.revoked_at is null
        and (later.expires_at is null or later.expires_at > key.expires_at))
    order by key.expires_at limit ${KEYS_MAX}`.execute(db.root);
  return rows.map(({ key_id: keyId, account_id: account, expires_at: expiresAt }) => ({
    alarm: "key_expires",
    subject: keyId,
    facts: { keyId, account, expiresAt: expiresAt.toISOString() },
  }));
}
