import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase, thoroughDatabase } from "../../test/support/database.ts";
import { insertIntent } from "../../test/support/intents.ts";
import type { Db } from "../db/database.ts";
import type { IntentRow } from "../intent/store.ts";
import { addMs, DAY_MS, systemClock } from "../kernel/clock.ts";
import type { PrimedAccount } from "./primedAccount.ts";
import { purgePrimedAccounts } from "./purgePrimedAccounts.ts";
import { extendPrimedAccount, insertWithinLimits } from "./store.ts";

const chain = "solana:test";
const at = new Date("2026-11-23T12:00:00Z");
const HOUR_MS = 3_600_000;
const limits = { openTotal: 3, openPerAccount: 2, hourlyPerAccount: 3, keepMs: 2 * HOUR_MS };

let db: Db;
let intent: Omit<IntentRow, "seq">;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
  intent = await insertIntent(db);
});
after(() => db.close());

const keyOf = (token: string) => ({ chain, intentId: intent.id, token }) as const;
const plan = (token: string, when = at) =>
  db.transaction((tx) => insertWithinLimits(tx, { ...keyOf(token), accountId: intent.account_id, at: when }, limits));
const change = (token: string, changes: Partial<Pick<PrimedAccount, "status" | "closed_at">>) =>
  db.root.updateTable("primed_account").set(changes).where("token", "=", token).execute();
const keptUntil = async (token: string) =>
  (await db.root.selectFrom("primed_account").select("keep_until").where("token", "=", token).executeTakeFirstOrThrow())
    .keep_until;

test("one account of an inbox and token is open at a time", async () => {
  assert.deepEqual([await plan("mint 1"), await plan("mint 1")], [true, false]);
  const row = await db.root.selectFrom("primed_account").selectAll().executeTakeFirstOrThrow();
  const { id: _, ...copy } = row;
  await assert.rejects(db.root.insertInto("primed_account").values(copy).execute(), /primed_account_open/);
});

test("the database refuses a sent account without its transaction, and a closed one without its time", async () => {
  await assert.rejects(change("mint 1", { status: "submitted" }), /check constraint/);
  await assert.rejects(change("mint 1", { status: "closing" }), /check constraint/);
  await assert.rejects(change("mint 1", { status: "closed" }), /check constraint/);
  await assert.rejects(change("mint 1", { closed_at: at }), /check constraint/);
});

test("closed accounts make room for open ones, and count for an hour", async () => {
  assert.deepEqual([await plan("mint 2"), await plan("mint 3")], [true, false]);
  await change("mint 2", { status: "closed", closed_at: at });
  assert.deepEqual([await plan("mint 3"), await plan("mint 4")], [true, false]);
  await change("mint 3", { status: "closed", closed_at: at });
  assert.equal(await plan("mint 4", addMs(at, HOUR_MS - 1)), false);
  assert.equal(await plan("mint 4", addMs(at, HOUR_MS)), true);
});

test("reports of views keep an account for a day at the longest", async () => {
  const extend = (ms: number) => extendPrimedAccount(db, keyOf("mint 1"), { at: addMs(at, ms), keepMs: limits.keepMs });
  assert.ok(await extend(HOUR_MS));
  assert.deepEqual(await keptUntil("mint 1"), addMs(at, 3 * HOUR_MS));
  assert.ok(await extend(-HOUR_MS));
  assert.deepEqual(await keptUntil("mint 1"), addMs(at, 3 * HOUR_MS), "an earlier clock shortens nothing");
  assert.ok(await extend(23 * HOUR_MS));
  assert.deepEqual(await keptUntil("mint 1"), addMs(at, DAY_MS));
  assert.equal(await extendPrimedAccount(db, keyOf("mint 2"), { at, keepMs: 1 }), false, "it is closed");
});

test("closed accounts are deleted after a week, and open ones never", async () => {
  const purge = (days: number) =>
    purgePrimedAccounts({ db, clock: { ...systemClock, now: () => addMs(at, days * DAY_MS) } }, 10);
  assert.equal(await purge(7), 0);
  assert.equal(await purge(8), 2);
  const left = await db.root.selectFrom("primed_account").select("token").orderBy("token").execute();
  assert.deepEqual(
    left.map(({ token }) => token),
    ["mint 1", "mint 4"],
  );
});
