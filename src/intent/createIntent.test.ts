import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPostgresDatabase, type PostgresDatabase } from "../../test/support/database.ts";
import { randomAddress } from "../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { waitUntilBlocked } from "../../test/support/waitUntilBlocked.ts";
import { openDatabase, type Tx } from "../db/database.ts";
import { createAccount } from "../merchant/createAccount.ts";
import type { AccountRow } from "../merchant/store.ts";
import { archiveIntent } from "./archiveIntent.ts";
import { createIntent, type CreatedIntent, type CreateIntentInput } from "./createIntent.ts";
import { openSession } from "./checkout/session.ts";
import { writeIntentProgress } from "./store.ts";

// These tests race real concurrent transactions, so they run on PostgreSQL over the connection pools of two services.

const CONCURRENT_CREATES = 200;
const CONNECTIONS = 20;

let database: PostgresDatabase;
let world: StationWorld;
let other: StationWorld;
let account: AccountRow;

before(async () => {
  database = await createPostgresDatabase();
  const open = () => openDatabase({ url: database.url, allowUnsafeFsync: true, poolSizeMax: CONNECTIONS });
  [world, other] = [stationWorld(await open()), stationWorld(await open())];
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  account = await createAccount(world, { name: "Racer", payout });
});

after(async () => {
  await Promise.all([world.db.close(), other.db.close()]);
  await database.drop();
});

function create(input: CreateIntentInput, by = world) {
  return createIntent(by.db.root, by, { account, input });
}

async function createConcurrently(priceOf: (racer: number) => number) {
  const payoutWallet = randomAddress();
  const createOne = (_: unknown, racer: number) =>
    create({ payoutWallet, priceUnits: priceOf(racer) }, racer % 2 === 0 ? world : other);
  return { payoutWallet, outcomes: await Promise.allSettled(Array.from({ length: CONCURRENT_CREATES }, createOne)) };
}

function fulfilledValues<T>(outcomes: readonly PromiseSettledResult<T>[]): T[] {
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
}

const listIntentsPaidTo = (payoutWallet: string) =>
  world.db.root.selectFrom("intent").selectAll().where("payout_wallet", "=", payoutWallet).orderBy("seq").execute();

const countEvents = async () => (await world.db.root.selectFrom("event").select("id").execute()).length;

const canOpenSession = async ({ intent, widgetToken }: CreatedIntent) =>
  !("refusal" in (await openSession(world, { intentId: intent.id, credential: { widgetToken } })));

test("§4.2.3 concurrent creates for one destination create one intent, and only one token authenticates", async () => {
  const eventsBefore = await countEvents();
  const { payoutWallet, outcomes } = await createConcurrently(() => 5_000_000);
  const created = fulfilledValues(outcomes);
  assert.equal(created.length, CONCURRENT_CREATES);
  assert.equal(created.filter((one) => one.isCreated).length, 1);
  assert.equal(new Set(created.map((one) => one.intent.id)).size, 1);
  assert.deepEqual([(await listIntentsPaidTo(payoutWallet)).length, (await countEvents()) - eventsBefore], [1, 1]);
  const open = await Promise.all(created.map(canOpenSession));
  assert.equal(open.filter(Boolean).length, 1);
});

test("§4.2.6 of concurrent creates with different terms one succeeds, the others conflict and write nothing", async () => {
  const eventsBefore = await countEvents();
  const { payoutWallet, outcomes } = await createConcurrently((racer) => 1_000_000 + racer);
  const [winner, ...others] = fulfilledValues(outcomes);
  assert.ok(winner?.isCreated);
  assert.deepEqual(others, []);
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  assert.deepEqual(new Set(reasons.map((reason) => Reflect.get(reason, "code"))), new Set(["destination_conflict"]));
  const named = reasons.map((reason) => Reflect.get(Reflect.get(reason, "details"), "intentId"));
  assert.deepEqual(new Set(named), new Set([winner.intent.id]));
  assert.deepEqual([await listIntentsPaidTo(payoutWallet), (await countEvents()) - eventsBefore], [[winner.intent], 1]);
  assert.ok(await canOpenSession(winner), "a refused create does not replace the token");
});

const TERMS = { priceUnits: 1_000_000, oneTime: true } as const;

const settle = async (tx: Tx, { intent }: CreatedIntent) => {
  const at = world.clock.now();
  const settled = { status: "settled", counted_units: 1_000_000n, settled_at: at, updated_at: at } as const;
  await writeIntentProgress(tx, [{ ...intent, ...settled }]);
};
const archive = async (tx: Tx, { intent }: CreatedIntent) => {
  await archiveIntent(tx, world, intent.id);
};

for (const [verb, endIntent] of Object.entries({ settle, archive })) {
  for (const [kind, terms] of Object.entries({ same: TERMS, other: { priceUnits: 7 } })) {
    test(`§3.1 a create with the ${kind} terms that waits for a ${verb} creates its intent after that commit`, async () => {
      const payoutWallet = randomAddress();
      const first = await create({ payoutWallet, ...TERMS });
      const { creating } = await runDuringTransaction(
        (tx) => endIntent(tx, first),
        () => create({ payoutWallet, ...terms }, other),
      );
      const next = await creating;
      assert.ok(next.isCreated);
      assert.notEqual(next.intent.id, first.intent.id);
      assert.deepEqual(
        (await listIntentsPaidTo(payoutWallet)).map(({ status }) => status === "active"),
        [false, true],
      );
    });
  }

  test(`§3.1 a create that waits for a ${verb} finds the unchanged intent after a rollback`, async () => {
    const payoutWallet = randomAddress();
    const first = await create({ payoutWallet, ...TERMS });
    const rollback = new Error("rolled back");
    const { creating } = await runDuringTransaction(
      (tx) => endIntent(tx, first),
      () => create({ payoutWallet, ...TERMS }, other),
      rollback,
    );
    const next = await creating;
    assert.deepEqual([next.isCreated, next.intent.id, next.intent.status], [false, first.intent.id, "active"]);
    assert.deepEqual([await canOpenSession(first), await canOpenSession(next)], [false, true]);
  });
}

test("§3.1 a settle that waits for a create commits after it, and the next create makes a new intent", async () => {
  const payoutWallet = randomAddress();
  const first = await create({ payoutWallet, ...TERMS });
  const found: CreatedIntent[] = [];
  const { creating: settling } = await runDuringTransaction(
    async (tx) => void found.push(await createIntent(tx, world, { account, input: { payoutWallet, ...TERMS } })),
    () => other.db.transaction((tx) => settle(tx, first)),
  );
  await settling;
  assert.deepEqual(
    found.map(({ isCreated, intent }) => [isCreated, intent.id, intent.status]),
    [[false, first.intent.id, "active"]],
  );
  assert.ok((await create({ payoutWallet, ...TERMS }, other)).isCreated);
  assert.deepEqual(
    (await listIntentsPaidTo(payoutWallet)).map(({ status }) => status),
    ["settled", "active"],
  );
});

test("§3.1 of concurrent creates during a settle at most one creates an intent, and none returns the settled intent", async () => {
  const payoutWallet = randomAddress();
  const first = await create({ payoutWallet, ...TERMS });
  const racers = Array.from({ length: 60 }, (_, racer) =>
    create({ payoutWallet, ...TERMS }, racer % 2 ? world : other),
  );
  const settling = world.db.transaction((tx) => settle(tx, first));
  const [later] = await Promise.all([Promise.all(racers), settling]);
  const [old, next, ...more] = await listIntentsPaidTo(payoutWallet);
  assert.deepEqual([old?.status, more], ["settled", []]);
  assert.deepEqual(
    later.filter((one) => one.isCreated).map((one) => one.intent.id),
    next === undefined ? [] : [next.id],
  );
  assert.deepEqual(new Set(later.map((one) => one.intent.status)), new Set(["active"]));
});

test("§4.2.8 a create without a destination creates a new intent, also where another intent occupies it", async () => {
  const payoutWallet = account.payout_wallet;
  const inputs = [{}, {}, { payoutWallet }, { payoutWallet }, {}];
  const isCreated: boolean[] = [];
  for (const input of inputs) isCreated.push((await create(input)).isCreated);
  assert.deepEqual(isCreated, [true, true, true, false, true]);
});

test("D11 a create refuses an inbox as payout wallet and writes nothing", async () => {
  const { intent } = await create({});
  const eventsBefore = await countEvents();
  await assert.rejects(create({ payoutWallet: intent.inbox_address }), { code: "unsupported_destination" });
  assert.deepEqual(await listIntentsPaidTo(intent.inbox_address), []);
  assert.equal(await countEvents(), eventsBefore);
});

/**
 * Runs `change` in a transaction and ends it once `begin` blocks on it: by rollback if `rollback` is set, else by
 * commit.
 */
async function runDuringTransaction<T>(change: (tx: Tx) => Promise<void>, begin: () => Promise<T>, rollback?: Error) {
  const blocked: { creating?: Promise<T> } = {};
  const changing = world.db.transaction(async (tx) => {
    await change(tx);
    blocked.creating = begin();
    await waitUntilBlocked(tx);
    if (rollback !== undefined) throw rollback;
  });
  await (rollback === undefined ? changing : assert.rejects(changing, rollback));
  assert.ok(blocked.creating);
  // An object wraps the promise, because an async function awaits a promise that it returns.
  return { creating: blocked.creating };
}
