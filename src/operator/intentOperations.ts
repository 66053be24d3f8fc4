import { findAsset } from "../catalog/catalog.ts";
import { depositRecord } from "../deposit/depositRecord.ts";
import { listDeposits } from "../deposit/dust/listDeposits.ts";
import { intentRecord, intentRecordWithRoutes, type IntentRecord } from "../intent/intentRecord.ts";
import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import type { IntentRow } from "../intent/store.ts";
import { Fault } from "../kernel/faults.ts";
import { settlementRecord } from "../settlement/settlementRecord.ts";
import type { World } from "../world.ts";
import { archiveIntent } from "../intent/archiveIntent.ts";
import { UsageError } from "./errors.ts";
import { readPage, toPage, type Page } from "./lists/page.ts";
import type { IntentSnapshot } from "./client/intentSnapshot.ts";
import { readAccountFilter } from "./accountOperations.ts";
import { requiredText, optionalText } from "./inputFields.ts";

/** The newest rows of one intent that `intents show` reads. The API pages through more. */
const HISTORY_MAX = 1_000;
const STATUSES = ["active", "settled", "archived"] as const;

export type IntentOutput = IntentRecord & { accountId: string };

/** Intents of every account, newest first. */
export async function listIntents(world: World, input: unknown): Promise<Page<IntentOutput>> {
  const { limit, cursor } = readPage(input);
  const before = await readCursor(world, cursor);
  const accountId = await readAccountFilter(world, input);
  const typed = optionalText(input, "status");
  const status = STATUSES.find((known) => known === typed);
  if (typed !== undefined && status === undefined)
    throw new UsageError(`--status must be one of ${STATUSES.join(", ")}, not ${typed}.`);
  const rows = await world.db.root
    .selectFrom("intent")
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
    .$if(status !== undefined, (query) => query.where("status", "=", status ?? "active"))
    .orderBy("seq", "desc")
    .$if(before !== undefined, (query) => query.where("seq", "<", before ?? 0n))
    .limit(limit + 1)
    .execute();
  const intents = rows.map((row) => ({ accountId: row.account_id, ...intentRecord(row, world.config) }));
  return toPage(intents, limit, ({ intentId }) => intentId);
}

/** The cursor is the last intent of the page before. */
async function readCursor(world: World, cursor: string | undefined): Promise<bigint | undefined> {
  return cursor === undefined ? undefined : (await getIntent(world, cursor)).seq;
}

/** Archives an intent of any account. Throws Fault `not_found` or `intent_has_pending_deposits`. */
export async function archiveOperatorIntent(world: World, input: unknown): Promise<IntentOutput> {
  const { id } = await getIntent(world, requiredText(input, "intentId"));
  const row = await world.db.transaction((tx) => archiveIntent(tx, world, id));
  return { accountId: row.account_id, ...intentRecord(row, world.config) };
}

/** One intent with its deposits and settlements, oldest first. */
export async function showIntent(world: World, input: unknown): Promise<IntentSnapshot & { accountId: string }> {
  const intentId = requiredText(input, "intentId");
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
