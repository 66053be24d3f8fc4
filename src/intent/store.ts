import { CompiledQuery, sql, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { IntentTable } from "./intentTables.ts";
import { eventInsertSql, type EventParameters } from "../event/store.ts";
import { depositInboxInsertSql } from "./inboxStore.ts";

export type IntentRow = Selectable<IntentTable>;

/** All columns, for statements that list them. The compiler requires every key of `IntentRow`. */
const COLUMNS = keysOf({
  id: 0,
  seq: 0,
  account_id: 0,
  livemode: 0,
  status: 0,
  occupies: 0,
  price_units: 0,
  price_token_units: 0,
  one_time: 0,
  merchant_reference: 0,
  metadata: 0,
  payout_namespace: 0,
  payout_chain_reference: 0,
  payout_wallet: 0,
  payout_token: 0,
  payout_decimals: 0,
  rail_id: 0,
  minimum_units: 0,
  fee_bps: 0,
  fee_recipient: 0,
  underpay_tolerance_bps: 0,
  recovery: 0,
  recover_after: 0,
  rent_recipient: 0,
  routes_root: 0,
  route_set: 0,
  hop_recovery: 0,
  hop_hub: 0,
  inbox_salt: 0,
  inbox_hub: 0,
  inbox_implementation: 0,
  inbox_address: 0,
  widget_token_hash: 0,
  customer_bound_at: 0,
  received_units: 0,
  counted_units: 0,
  agreement_units: 0,
  late_units: 0,
  settled_units: 0,
  fee_units: 0,
  net_units: 0,
  pending_count: 0,
  created_at: 0,
  updated_at: 0,
  settled_at: 0,
  archived_at: 0,
  return_url: 0,
  description: 0,
});

/** The columns of an intent in a statement that joins it under this name. */
export function intentColumns(name: string): string {
  return COLUMNS.map((column) => `${name}.${column}`).join();
}

function keysOf(row: Record<keyof IntentRow, 0>): (keyof IntentRow)[] {
  return Object.keys(row) as (keyof IntentRow)[];
}

/**
 * Locks intents in the order of their ids, so that workers with overlapping batches wait instead of deadlocking. Every
 * change to an intent's progress holds this lock, and a transaction locks the intent before any other row.
 */
export async function lockIntents(tx: Tx, intentIds: readonly string[]): Promise<IntentRow[]> {
  if (intentIds.length === 0) return [];
  return tx
    .selectFrom("intent")
    .selectAll()
    .where(sql<boolean>`id = any(${array(intentIds, "text")})`)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/**
 * Writes the progress of intents: status, totals (in the payout token's smallest units) and times. The caller holds
 * their locks. Pinned columns are never written.
 */
export async function writeIntentProgress(tx: Tx, intents: readonly IntentRow[]): Promise<void> {
  if (intents.length === 0) return;
  const column = <T>(valueOf: (intent: IntentRow) => T) => intents.map(valueOf);
  await sql`
    update intent set
      status = changed.status, received_units = changed.received, counted_units = changed.counted,
      agreement_units = changed.agreement, late_units = changed.late,
      settled_units = changed.settled, fee_units = changed.fee, net_units = changed.net,
      pending_count = changed.pending, settled_at = changed.settled_at, updated_at = changed.updated_at
    from unnest(
      ${array(
        column((intent) => intent.id),
        "text",
      )},
      ${array(
        column((intent) => intent.status),
        "text",
      )},
      ${array(
        column((intent) => intent.received_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.counted_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.agreement_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.late_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.settled_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.fee_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.net_units),
        "numeric",
      )},
      ${array(
        column((intent) => intent.pending_count),
        "int4",
      )},
      ${array(
        column((intent) => intent.settled_at),
        "timestamptz",
      )},
      ${array(
        column((intent) => intent.updated_at),
        "timestamptz",
      )}
    ) as changed (id, status, received, counted, agreement, late, settled, fee, net, pending, settled_at, updated_at)
    where intent.id = changed.id`.execute(tx);
}

/** The columns of a destination. At most one active intent with `occupies` has each destination. */
const DESTINATION_COLUMNS = [
  "account_id",
  "payout_namespace",
  "payout_chain_reference",
  "payout_wallet",
  "payout_token",
] as const;

type OccupiedDestination = Pick<IntentRow, (typeof DESTINATION_COLUMNS)[number]>;

/** A key that is equal for intents with the same destination. */
export function destinationKey(intent: OccupiedDestination): string {
  return DESTINATION_COLUMNS.map((column) => intent[column]).join("/");
}

function selectOccupant(db: Db["root"], intent: OccupiedDestination) {
  return DESTINATION_COLUMNS.reduce(
    (select, column) => select.where(column, "=", intent[column]),
    db.selectFrom("intent").where("status", "=", "active").where("occupies", "=", true),
  );
}

/** Those of these intents whose destination another active intent occupies. */
export async function listTakenDestinations(tx: Tx, intentIds: readonly string[]): Promise<Set<string>> {
  if (intentIds.length === 0) return new Set();
  const isSame = sql.raw(DESTINATION_COLUMNS.map((column) => `other.${column} = own.${column}`).join(" and "));
  const { rows } = await sql<{ id: string }>`
    select own.id from intent own where own.id = any(${array(intentIds, "text")}) and exists (
      select from intent other where ${isSame} and other.status = 'active' and other.occupies and other.id <> own.id
      offset 0)`.execute(tx);
  return new Set(rows.map((row) => row.id));
}

/** An intent before its insert; the database assigns `seq`. */
export type NewIntent = Omit<IntentRow, "seq">;

const NEW_COLUMNS = COLUMNS.filter((column): column is keyof NewIntent => column !== "seq");
const INSERT_OR_RENEW_INTENT = buildInsertOrRenewSql();

function buildInsertOrRenewSql(): string {
  const placeholder = (column: keyof NewIntent) => `$${NEW_COLUMNS.indexOf(column) + 1}`;
  const found = NEW_COLUMNS.filter((column) => column !== "id").map((column) => `found.${column}`);
  // The unique index decides between concurrent creates. An occupant that settles meanwhile leaves the index, and the
  // insert succeeds. The statement repeats the index predicate as literals, because a generic plan cannot match
  // parameters to a partial index. The inbox check may read an older snapshot: an inbox address is public only after
  // its insert has committed. For an inserted row only `seq` and `id` return, because the caller has the other columns.
  return `/* named: insert_or_renew_intent */
    with kept as (
      insert into intent as occupant (${NEW_COLUMNS.join()})
      select ${NEW_COLUMNS.map(placeholder).join()}
      where not exists (select from inbox where inbox.address = ${placeholder("payout_wallet")}
          and inbox.namespace = ${placeholder("payout_namespace")} and inbox.reference in ('', ${placeholder("payout_chain_reference")}))
      on conflict (${DESTINATION_COLUMNS.join()})
        where status = 'active' and occupies
      do update set widget_token_hash = excluded.widget_token_hash
        where occupant.price_units is not distinct from excluded.price_units and occupant.one_time = excluded.one_time
      returning *
    ), created as (
      select seq from kept where id = ${placeholder("id")}
    ), deposit_inbox as (
      ${depositInboxInsertSql({
        sourceQuery: "created",
        intentId: placeholder("id"),
        namespace: placeholder("payout_namespace"),
        reference: placeholder("payout_chain_reference"),
        token: placeholder("payout_token"),
        address: placeholder("inbox_address"),
        createdAt: placeholder("created_at"),
      })}
    ), created_event as (
      ${eventInsertSql({ sourceQuery: "created", firstNumber: NEW_COLUMNS.length + 1 })}
    )
    select kept.seq, kept.id, ${found.join()} from kept left join kept as found on found.id <> ${placeholder("id")}`;
}

/**
 * Inserts the intent with its inbox and its event in one statement, and returns it. If an active intent occupies the
 * destination with the same terms, it sets that intent's widget token and returns that intent instead. Returns
 * undefined and writes nothing when the occupant has other terms, or when the payout wallet is an inbox of this
 * service.
 */
export async function insertOrRenewIntent(
  db: Db["root"],
  intent: NewIntent,
  event: EventParameters,
): Promise<IntentRow | undefined> {
  const parameters = [...NEW_COLUMNS.map((column) => intent[column]), ...event];
  const { rows } = await db.executeQuery<IntentRow>(CompiledQuery.raw(INSERT_OR_RENEW_INTENT, parameters));
  const [row] = rows;
  return row?.id === intent.id ? { ...intent, seq: row.seq } : row;
}

/** The active intent that occupies the destination of `intent`. */
export async function findOccupant(db: Db["root"], intent: NewIntent): Promise<IntentRow | undefined> {
  return selectOccupant(db, intent).selectAll().executeTakeFirst();
}

/** Replaces the widget token hash; the earlier token stops authenticating at the commit. */
export async function replaceWidgetToken(tx: Tx, token: { id: string; hash: Uint8Array }): Promise<IntentRow> {
  return tx
    .updateTable("intent")
    .set({ widget_token_hash: token.hash })
    .where("id", "=", token.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Sets `customer_bound_at` once; later calls leave it unchanged. */
export async function updateCustomerBound(db: Db, { intentId, at }: { intentId: string; at: Date }): Promise<void> {
  await db.root
    .updateTable("intent")
    .set({ customer_bound_at: at })
    .where("id", "=", intentId)
    .where("customer_bound_at", "is", null)
    .execute();
}

/** Active intents created after `createdAfter` whose customer is not bound, in the order of `seq`. */
export async function listIntentsWithoutCustomer(
  db: Db,
  page: { afterSeq: bigint; createdAfter: Date; limit: number },
): Promise<IntentRow[]> {
  return db.root
    .selectFrom("intent")
    .selectAll()
    .where("customer_bound_at", "is", null)
    .where("status", "=", "active")
    .where("seq", ">", page.afterSeq)
    .where("created_at", ">", page.createdAfter)
    .orderBy("seq")
    .limit(page.limit)
    .execute();
}

/** Archives an intent. The caller holds its lock and has checked that it has no pending deposit. */
export async function updateToArchived(tx: Tx, { id, at }: { id: string; at: Date }): Promise<IntentRow> {
  return tx
    .updateTable("intent")
    .set({ status: "archived", archived_at: at, updated_at: at })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** An account's intent; undefined for another account's. */
export async function findIntent(db: Db, key: { accountId: string; intentId: string }): Promise<IntentRow | undefined> {
  const { rows } = await db.root.executeQuery<IntentRow>(CompiledQuery.raw(FIND_INTENT, [key.intentId, key.accountId]));
  return rows[0];
}

/** Uses the index on account and id, so that another account's id takes as long as an unknown one. */
const FIND_INTENT = `/* shared: find_intent */ select ${COLUMNS.join()} from intent
  where account_id = $2 and id collate "C" = $1`;

/** For the checkout page, where the caller authenticates with a token of the intent and has no account. */
export async function findIntentById(db: Db, intentId: string): Promise<IntentRow | undefined> {
  return db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirst();
}

/** The random identity and key of an installation. */
export type Deployment = {
  /** 32 bytes that inbox salts derive from. They are public to anyone who verifies an address. */
  deploymentId: Uint8Array;
  /** The 32-byte HMAC key of cursors and sessions. It never leaves the server. */
  signingSecret: Uint8Array;
};

export async function findDeployment(db: Db): Promise<Deployment | undefined> {
  return db.root
    .selectFrom("deployment")
    .select(["deployment_id as deploymentId", "signing_secret as signingSecret"])
    .executeTakeFirst();
}

/** Inserts the deployment; an existing row stays unchanged. */
export async function insertDeployment(db: Db, deployment: Deployment): Promise<void> {
  await db.root
    .insertInto("deployment")
    .values({ deployment_id: deployment.deploymentId, signing_secret: deployment.signingSecret })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
