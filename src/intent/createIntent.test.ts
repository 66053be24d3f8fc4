import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { randomAddress } from "../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { createAccount } from "../merchant/createAccount.ts";
import type { AccountRow } from "../merchant/store.ts";
import { createIntent, type CreateIntentInput } from "./createIntent.ts";
import { openSession } from "./session.ts";
import { writeProgress } from "./store.ts";

// Who wins a race is a matter of real transactions, so this runs where several happen at once.

const RACERS = 120;

let world: StationWorld;
let account: AccountRow;

before(async () => {
  world = stationWorld(await openTestDatabase("postgres", { poolSizeMax: 20 }));
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  account = await createAccount(world, { name: "Racer", payout });
});

after(() => world.db.close());

function create(input: CreateIntentInput) {
  return createIntent(world.db.read, world, { account, input });
}

async function racing(count: number, priceOf: (racer: number) => number) {
  const payoutWallet = randomAddress();
  const race = (racer: number) => create({ payoutWallet, priceUnits: priceOf(racer) });
  return {
    payoutWallet,
    outcomes: await Promise.allSettled(Array.from({ length: count }, (_, racer) => race(racer))),
  };
}

function won<T>(outcomes: readonly PromiseSettledResult<T>[]): T[] {
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
}

test("§4.2.3 of many creates at once for one destination exactly one mints", async () => {
  const { payoutWallet, outcomes } = await racing(RACERS, () => 5_000_000);
  const created = won(outcomes);
  assert.equal(created.length, RACERS);
  assert.equal(created.filter((one) => one.isCreated).length, 1);
  assert.equal(new Set(created.map((one) => one.intent.id)).size, 1);
  const rows = await world.db.read
    .selectFrom("intent")
    .select("id")
    .where("payout_wallet", "=", payoutWallet)
    .execute();
  assert.equal(rows.length, 1);
});

test("§5.7 of many tokens handed out at once exactly one authenticates", async () => {
  const { outcomes } = await racing(RACERS, () => 5_000_000);
  const open = won(outcomes).map(({ intent, widgetToken }) => openSession(world, { intentId: intent.id, widgetToken }));
  assert.equal((await Promise.all(open)).filter((session) => session !== undefined).length, 1);
});

test("§4.2.6 of many creates with different terms one mints, the others conflict and write nothing", async () => {
  const { payoutWallet, outcomes } = await racing(RACERS, (racer) => 1_000_000 + racer);
  const [winner, ...others] = won(outcomes);
  assert.ok(winner?.isCreated);
  assert.deepEqual(others, []);
  const codes = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [Reflect.get(outcome.reason, "code")] : [],
  );
  assert.deepEqual(new Set(codes), new Set(["destination_conflict"]));
  const rows = await world.db.read.selectFrom("intent").selectAll().where("payout_wallet", "=", payoutWallet).execute();
  const events = await world.db.read
    .selectFrom("event")
    .select("id")
    .where("intent_id", "=", winner.intent.id)
    .execute();
  assert.deepEqual([rows.length, events.length], [1, 1]);
  const { widgetToken, intent } = winner;
  assert.ok(await openSession(world, { intentId: intent.id, widgetToken }), "a refused create leaves the token alone");
});

test("§3 a destination that settles meanwhile goes to one new intent, never back to the settled one", async () => {
  const payoutWallet = randomAddress();
  const input = { payoutWallet, priceUnits: 1_000_000, oneTime: true };
  const first = await create(input);
  const settle = world.db.transaction(async (tx) => {
    const at = world.clock.now();
    const settled = {
      ...first.intent,
      status: "settled",
      counted_units: 1_000_000n,
      settled_at: at,
      updated_at: at,
    } as const;
    await writeProgress(tx, [settled]);
  });
  const racers = Array.from({ length: 40 }, () => create(input));
  const [later] = await Promise.all([Promise.all(racers), settle]);
  const now = await world.db.read
    .selectFrom("intent")
    .select(["id", "status"])
    .where("payout_wallet", "=", payoutWallet)
    .execute();
  const active = now.filter((row) => row.status === "active");
  assert.ok(active.length <= 1 && now.length <= 2);
  const minted = later.filter((one) => one.isCreated).map((one) => one.intent.id);
  assert.deepEqual(
    minted,
    active.map((row) => row.id),
  );
});

test("§4.2.8 creates that name no destination never meet, not each other and not one that names it", async () => {
  const payoutWallet = account.payout_wallet;
  const inputs = [{}, {}, { payoutWallet }, { payoutWallet }, {}];
  const isCreated: boolean[] = [];
  for (const input of inputs) isCreated.push((await create(input)).isCreated);
  assert.deepEqual(isCreated, [true, true, true, false, true]);
});
