import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openTestDatabase } from "../../test/support/database.ts";
import { deleteIntents, insertIntent, randomAddress } from "../../test/support/intents.ts";
import { isDeepRun } from "../../test/support/runNumber.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Tx } from "../db/database.ts";
import { createAccount } from "../merchant/createAccount.ts";
import type { AccountRow } from "../merchant/store.ts";
import { createIntent } from "./createIntent.ts";
import { listIntents } from "./readIntents.ts";

// An insert draws the row's `seq`, and the commit makes it visible. Only concurrent connections separate the two.

const LIMIT = 3;
const PAGES_MAX = 20;
/** Of which a sixth loses its connection, and as many are rolled back. */
const CREATES = isDeepRun ? 1_000 : 300;

let world: StationWorld;
let account: AccountRow;

before(async () => {
  world = stationWorld(await openTestDatabase("postgres"));
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  account = await createAccount(world, { name: "Lister", payout });
});
after(() => world.db.close());

const create = async (on: Tx | StationWorld["db"]["root"] = world.db.root) =>
  (await createIntent(on, world, { account, input: {} })).intent.id;

/** Reads all pages in order, and runs `meanwhile` after the first. */
async function listAllPages(meanwhile: () => Promise<void> = async () => {}): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { intents, hasMore, nextCursor } = await listIntents(world, { accountId: account.id, limit: LIMIT, cursor });
    ids.push(...intents.map(({ id }) => id));
    if (page === 0) await meanwhile();
    if (!hasMore) return ids;
    cursor = nextCursor;
  }
  throw new Error("the list has no end");
}

/** Inserts an intent, which draws its `seq`, and leaves the transaction open until `commit`. */
async function createUncommitted(): Promise<{ id: string; commit: () => Promise<void> }> {
  const [inserted, released] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const creating = world.db.transaction(async (tx) => {
    inserted.resolve(await create(tx));
    await released.promise;
  });
  const id = await inserted.promise;
  const commit = async () => {
    released.resolve();
    await creating;
  };
  return { id, commit };
}

test("paging while creates commit out of order returns every earlier intent exactly once", async () => {
  const there: string[] = [];
  const slow: Awaited<ReturnType<typeof createUncommitted>>[] = [];
  for (let round = 0; round < 4; round += 1) {
    there.unshift(await create(), await create());
    slow.push(await createUncommitted());
  }
  const last = await createUncommitted();
  const seen = await listAllPages(async () => {
    for (const { commit } of [...slow, last]) await commit();
    await create();
  });
  assert.equal(new Set(seen).size, seen.length);
  const seenOfThose = seen.filter((id) => there.includes(id));
  assert.deepEqual(seenOfThose.toSorted(), there.toSorted());
  assert.ok(!seen.includes(last.id), "a later page shows no intent newer than an earlier page");

  const now = await listAllPages();
  assert.equal(now.length, there.length + slow.length + 2);
  const bySeq = world.db.root.selectFrom("intent").select("id").where("account_id", "=", account.id);
  const rows = await bySeq.orderBy("seq", "desc").execute();
  assert.deepEqual(
    now,
    rows.map(({ id }) => id),
  );
});

test("no two intents share an inbox, also after rollbacks, lost connections and deleted rows", async () => {
  const handedOut: string[] = [];
  const make = async (_: unknown, index: number) => {
    const from = async (on: Tx | StationWorld["db"]["root"]) =>
      handedOut.push((await createIntent(on, world, { account, input: {} })).intent.inbox_address);
    if (index % 3 > 0) {
      await from(world.db.root);
      return;
    }
    const failing = world.db.transaction(async (tx) => {
      await from(tx);
      if (index % 2 > 0) throw new Error("rolled back");
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
    });
    await assert.rejects(failing, index % 2 > 0 ? /rolled back/ : /terminat|closed|not reach/i);
  };
  // Fifty at a time: on a busy machine more would wait longer for a connection than the pool allows.
  const makeMany = async (count: number) => {
    for (let made = 0; made < count; made += 50) await Promise.all(Array.from({ length: 50 }, make));
  };
  await makeMany(CREATES);
  // Simulates a restored backup: rows are missing, and payers already have their addresses.
  await deleteIntents(world.db, handedOut.slice(0, CREATES / 2));
  await makeMany(CREATES / 2);
  assert.equal(new Set(handedOut).size, CREATES * 1.5);
  const taken = await insertIntent(world.db);
  await assert.rejects(insertIntent(world.db, { inbox_address: taken.inbox_address }), /inbox_address/);
});
