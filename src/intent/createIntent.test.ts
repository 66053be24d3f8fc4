import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { createPostgresDatabase, type PostgresDatabase } from "../../test/support/database.ts";
import { randomAddress } from "../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { openDatabase, type Tx } from "../db/database.ts";
import { createAccount } from "../merchant/createAccount.ts";
import type { AccountRow } from "../merchant/store.ts";
import { archiveIntent } from "./archiveIntent.ts";
import { createIntent, type CreatedIntent, type CreateIntentInput } from "./createIntent.ts";
import { createSession } from "./checkout/session.ts";
import { writeIntentProgress } from "./store.ts";

// Who wins a race is a matter of real transactions, so this runs where several happen at once, over the connections of two services.

const CONCURRENT_CREATES = 200;
const CONNECTIONS = 20;
const POLLS_MAX = 20_000;

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
  (await createSession(world, { intentId: intent.id, widgetToken })) !== undefined;

test("31 §4.2.3 of many creates at once for one destination exactly one mints, and exactly one token authenticates", async () => {
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

test("32 §4.2.6 of many creates with different terms one mints, the others conflict and write nothing", async () => {
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
  assert.ok(await canOpenSession(winner), "a refused create leaves the token alone");
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

for (const [verb, leave] of Object.entries({ settle, archive })) {
  for (const [kind, terms] of Object.entries({ same: TERMS, other: { priceUnits: 7 } })) {
    test(`33 §3.1 a create with the ${kind} terms that waits for a ${verb} mints once that is committed`, async () => {
      const payoutWallet = randomAddress();
      const first = await create({ payoutWallet, ...TERMS });
      const { creating } = await runDuringTransaction(
        (tx) => leave(tx, first),
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

  test(`33 §3.1 a create that waits for a ${verb} that is undone finds the intent as it was`, async () => {
    const payoutWallet = randomAddress();
    const first = await create({ payoutWallet, ...TERMS });
    const undone = new Error("undone");
    const { creating } = await runDuringTransaction(
      (tx) => leave(tx, first),
      () => create({ payoutWallet, ...TERMS }, other),
      undone,
    );
    const next = await creating;
    assert.deepEqual([next.isCreated, next.intent.id, next.intent.status], [false, first.intent.id, "active"]);
    assert.deepEqual([await canOpenSession(first), await canOpenSession(next)], [false, true]);
  });
}

test("33 §3.1 an intent that a create finds settles after it, and the next create mints", async () => {
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

test("33 §3.1 among many creates while a destination settles at most one mints, and none gets the settled intent back", async () => {
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

test("§4.2.8 creates that name no destination never meet, not each other and not one that names it", async () => {
  const payoutWallet = account.payout_wallet;
  const inputs = [{}, {}, { payoutWallet }, { payoutWallet }, {}];
  const isCreated: boolean[] = [];
  for (const input of inputs) isCreated.push((await create(input)).isCreated);
  assert.deepEqual(isCreated, [true, true, true, false, true]);
});

test("D11 an inbox of ours is no payout, and the destination of one that is refused stays free", async () => {
  const { intent } = await create({});
  const eventsBefore = await countEvents();
  await assert.rejects(create({ payoutWallet: intent.inbox_address }), { code: "unsupported_destination" });
  assert.deepEqual(await listIntentsPaidTo(intent.inbox_address), []);
  assert.equal(await countEvents(), eventsBefore);
});

/** Runs `change` in a transaction, and ends that (undone, where a reason is given) once `begin` waits for it. */
async function runDuringTransaction<T>(change: (tx: Tx) => Promise<void>, begin: () => Promise<T>, undone?: Error) {
  const wait: { creating?: Promise<T> } = {};
  const changing = world.db.transaction(async (tx) => {
    await change(tx);
    wait.creating = begin();
    await waitUntilBlocked(tx);
    if (undone !== undefined) throw undone;
  });
  await (undone === undefined ? changing : assert.rejects(changing, undone));
  assert.ok(wait.creating);
  // In an object: a promise that is returned alone would be waited for.
  return { creating: wait.creating };
}

async function waitUntilBlocked(tx: Tx): Promise<void> {
  for (let looks = 0; looks < POLLS_MAX; looks += 1) {
    const { rows } = await sql`select 1 from pg_locks where not granted`.execute(tx);
    if (rows.length > 0) return;
  }
  throw new Error("nobody waits for the transaction");
}
