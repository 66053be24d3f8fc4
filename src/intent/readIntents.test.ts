import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openTestDatabase } from "../../test/support/database.ts";
import { deleteIntents, insertIntent, randomAddress } from "../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Tx } from "../db/database.ts";
import { createAccount } from "../merchant/createAccount.ts";
import type { AccountRow } from "../merchant/store.ts";
import { createIntent } from "./createIntent.ts";
import { listIntents } from "./readIntents.ts";

// A row's place in the list is drawn when it is inserted, and seen when it is committed: only several connections tell these apart.

const LIMIT = 3;
const PAGES_MAX = 20;

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

/** The pages in turn; `meanwhile` happens after the first. */
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

/** An intent whose place is drawn now, and which is committed when told to. */
async function createUncommitted(): Promise<{ id: string; commit: () => Promise<void> }> {
  const [drawn, told] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const creating = world.db.transaction(async (tx) => {
    drawn.resolve(await create(tx));
    await told.promise;
  });
  const id = await drawn.promise;
  const commit = async () => {
    told.resolve();
    await creating;
  };
  return { id, commit };
}

test("37 who pages while creates commit out of order sees each intent that was there once, and nothing twice", async () => {
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
  assert.ok(!seen.includes(last.id), "what is newer than a page that was read is not on a later one");

  const now = await listAllPages();
  assert.equal(now.length, there.length + slow.length + 2);
  const bySeq = world.db.root.selectFrom("intent").select("id").where("account_id", "=", account.id);
  const rows = await bySeq.orderBy("seq", "desc").execute();
  assert.deepEqual(
    now,
    rows.map(({ id }) => id),
  );
});

test("35 no two intents share an inbox, whatever was undone or lost in between", async () => {
  const handedOut: string[] = [];
  const make = async (_: unknown, index: number) => {
    const from = async (on: Tx | StationWorld["db"]["root"]) =>
      handedOut.push((await createIntent(on, world, { account, input: {} })).intent.inbox_address);
    if (index % 3 > 0) {
      await from(world.db.root);
      return;
    }
    const undone = world.db.transaction(async (tx) => {
      await from(tx);
      if (index % 2 > 0) throw new Error("undone");
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
    });
    await assert.rejects(undone, index % 2 > 0 ? /undone/ : /terminat|closed|not reach/i);
  };
  await Promise.all(Array.from({ length: 1_000 }, make));
  // As after a return to an earlier state: rows are gone, and the addresses of those are known to somebody.
  await deleteIntents(world.db, handedOut.slice(0, 300));
  await Promise.all(Array.from({ length: 300 }, make));
  assert.equal(new Set(handedOut).size, 1_300);
  const taken = await insertIntent(world.db);
  await assert.rejects(insertIntent(world.db, { inbox_address: taken.inbox_address }), /inbox_address/);
});
