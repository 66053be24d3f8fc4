import { findAsset } from "../catalog/catalog.ts";
import { depositRecord, type DepositRecord } from "../deposit/depositRecord.ts";
import { listDeposits } from "../deposit/listDeposits.ts";
import { intentRecord, intentRecordWithRoutes, type IntentRecord } from "../intent/intentRecord.ts";
import { findIntentRoutes, findRoutes } from "../intent/routes/findRoutes.ts";
import type { IntentRow } from "../intent/store.ts";
import { Fault } from "../kernel/faults.ts";
import { settlementRecord, type SettlementRecord } from "../settlement/change/settlementRecord.ts";
import type { World } from "../world.ts";
import { archiveIntent } from "../intent/archiveIntent.ts";
import { UsageError } from "./errors.ts";
import { limitOf, PAGE_FIELDS, toPage, type Page } from "./lists/page.ts";
import { getAccount } from "./team/getAccount.ts";
import { requiredText, optionalText } from "./operation/inputFields.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

/** The newest rows of one intent that `intents show` reads. The API pages through more. */
const HISTORY_MAX = 1_000;
const STATUSES = ["active", "settled", "archived"] as const;

/** One intent with its deposits and settlements. */
export type IntentSnapshot = { intent: IntentRecord; deposits: DepositRecord[]; settlements: SettlementRecord[] };

export type IntentOutput = IntentRecord & { accountId: string };

/** Intents of every account, newest first. */
export const listIntents = defineOperatorOperation({
  effect: "read",
  input: { accountId: optionalText, status: optionalText, ...PAGE_FIELDS },
  async run(world, given) {
    const limit = limitOf(given);
    const before = await readCursor(world, given.cursor);
    const account = given.accountId === undefined ? undefined : await getAccount(world, given.accountId);
    const status = STATUSES.find((known) => known === given.status);
    if (given.status !== undefined && status === undefined)
      throw new UsageError(`--status must be one of ${STATUSES.join(", ")}, not ${given.status}.`);
    const rows = await world.db.root
      .selectFrom("intent")
      .selectAll()
      .$if(account !== undefined, (query) => query.where("account_id", "=", account?.id ?? ""))
      .$if(status !== undefined, (query) => query.where("status", "=", status ?? "active"))
      .orderBy("seq", "desc")
      .$if(before !== undefined, (query) => query.where("seq", "<", before ?? 0n))
      .limit(limit + 1)
      .execute();
    return toPage(rows.map(toIntentOutput(world)), limit, ({ intentId }) => intentId);
  },
});

function toIntentOutput({ config }: World): (row: IntentRow) => IntentOutput {
  return (row) => ({ accountId: row.account_id, ...intentRecord(row, config) });
}

/** What recovery needs of one intent without this service, and an import into another database. */
export type IntentExport = Omit<IntentRecord, "amounts" | "paymentStatus" | "checkoutUrl" | "updatedAt"> & {
  accountId: string;
};

/**
 * The terms of every intent, oldest first, with all that its inboxes can be recovered from. The routes of a root stand
 * at its first intent on a page: they are many, and the other intents share them.
 */
export const exportIntents = defineOperatorOperation({
  effect: "read",
  input: { accountId: optionalText, ...PAGE_FIELDS },
  async run(world, given): Promise<Page<IntentExport>> {
    const limit = limitOf(given);
    const after = await readCursor(world, given.cursor);
    const account = given.accountId === undefined ? undefined : await getAccount(world, given.accountId);
    const rows = await world.db.root
      .selectFrom("intent")
      .selectAll()
      .$if(account !== undefined, (query) => query.where("account_id", "=", account?.id ?? ""))
      .$if(after !== undefined, (query) => query.where("seq", ">", after ?? 0n))
      .orderBy("seq")
      .limit(limit + 1)
      .execute();
    const routes = await findRoutes({ db: world.db.root, memory: world.memory }, rows);
    const shown = new Set<string>();
    const records = rows.map((row): IntentExport => {
      const isShown = shown.has(row.routes_root);
      shown.add(row.routes_root);
      const ofRow = routes.get(row.id) ?? [];
      const record = isShown ? intentRecord(row, world.config) : intentRecordWithRoutes(row, ofRow, world.config);
      const { amounts: _amounts, paymentStatus: _status, checkoutUrl: _url, updatedAt: _at, ...kept } = record;
      return { accountId: row.account_id, ...kept };
    });
    return toPage(records, limit, ({ intentId }) => intentId);
  },
});

/** The cursor is the last intent of the page before. */
async function readCursor(world: World, cursor: string | undefined): Promise<bigint | undefined> {
  return cursor === undefined ? undefined : (await getIntent(world, cursor)).seq;
}

/** Archives an intent of any account. Throws Fault `not_found` or `intent_has_pending_deposits`. */
export const archiveOperatorIntent = defineOperatorOperation({
  effect: "write",
  input: { intentId: requiredText },
  async run(world, { intentId }) {
    const { id } = await getIntent(world, intentId);
    return toIntentOutput(world)(await world.db.transaction((tx) => archiveIntent(tx, world, id)));
  },
});

/** One intent with its deposits and settlements, oldest first. */
export const showIntent = defineOperatorOperation({
  effect: "read",
  input: { intentId: requiredText },
  run: (world, { intentId }) => readSnapshot(world, intentId),
});

async function readSnapshot(world: World, intentId: string): Promise<IntentSnapshot & { accountId: string }> {
  const [deposits, settlements, cursors] = await Promise.all([
    listDeposits(world, { intent: await getIntent(world, intentId), limit: HISTORY_MAX }),
    world.db.root
      .selectFrom("settlement")
      .selectAll()
      .where("intent_id", "=", intentId)
      .orderBy("seq")
      .limit(HISTORY_MAX)
      .execute(),
    world.db.root.selectFrom("chain_cursor").select(["chain", "number"]).execute(),
  ]);
  // The intent is read last, so that its sums include every row of the two lists.
  const row = await getIntent(world, intentId);
  const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, row);
  const heads = new Map(cursors.map(({ chain, number }) => [chain, number]));
  return {
    accountId: row.account_id,
    intent: intentRecordWithRoutes(row, routes, world.config),
    deposits: deposits.toReversed().map((deposit) =>
      depositRecord(deposit, {
        symbol: findAsset(world.catalog, deposit.chain, deposit.token)?.symbol ?? deposit.token,
        headNumber: heads.get(deposit.chain) ?? 0n,
      }),
    ),
    settlements: settlements.map(settlementRecord),
  };
}

/** Reads an intent of any account. Throws Fault `not_found`. */
export async function getIntent(world: World, intentId: string): Promise<IntentRow> {
  const row = await world.db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirst();
  if (row === undefined) throw new Fault("not_found", { message: "No such intent." });
  return row;
}
