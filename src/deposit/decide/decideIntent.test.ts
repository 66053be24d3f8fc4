import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventTypesOf } from "../../../test/support/events.ts";
import { sql } from "kysely";
import { openTestDatabase } from "../../../test/support/database.ts";
import { openScriptedRoads, type RoadChain, type ScriptedRoads } from "../../../test/support/scriptedRoads.ts";
import type { FinalityTier } from "../../config/config.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";

const USDC = 1_000_000n;
const LIMIT = 1_000n * USDC;
/** Up to the limit three confirmations suffice; above it, the chain's own finality. */
const TIERS: FinalityTier[] = [
  { upToPriceUnits: LIMIT, finality: { confirmations: 3 } },
  { upToPriceUnits: undefined, finality: { tag: "finalized" } },
];
const FINALIZED = 40;

describe("an intent is decided with the facts of all its chains", () => {
  let db: Db;
  let roads: ScriptedRoads;
  let home: RoadChain;
  let away: RoadChain;
  before(async () => {
    db = await openTestDatabase("postgres");
    roads = await openScriptedRoads(db, {
      chains: [
        { finality: TIERS, finalized: FINALIZED },
        { finality: TIERS, finalized: FINALIZED },
        { finality: TIERS, finalized: FINALIZED, agreement: { providers: 2, abovePriceUnits: 100n * USDC } },
      ],
    });
    const [first, second] = roads.chains;
    assert(first && second);
    [home, away] = [first, second];
  });
  after(() => db.close());

  const depositsOf = async ({ id }: IntentRow) =>
    (await db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute()).map(
      ({ status, amount_units: units, required_confirmations: required }) => ({ status, units, required }),
    );
  const statusesOf = async (intent: IntentRow) => (await depositsOf(intent)).map(({ status }) => status);
  const eventsOf = ({ id }: IntentRow) => listEventTypesOf(db, id);
  /** Pays, and runs everything on the chain until the payment has three confirmations. */
  async function payAndConfirm(chain: RoadChain, intent: IntentRow, units: bigint): Promise<void> {
    chain.pay(intent, units);
    await chain.advance(4);
  }

  test("D46 dust on another chain does not count what a chain still waits for", async () => {
    const intent = await roads.create();
    await payAndConfirm(home, intent, 900n * USDC);
    assert.deepEqual(await statusesOf(intent), ["counted"]);
    await payAndConfirm(home, intent, 900n * USDC);
    assert.deepEqual(await statusesOf(intent), ["counted", "seen"]);
    await payAndConfirm(away, intent, 1n);
    assert.equal((await depositsOf(intent))[1]?.status, "seen", "two instalments are above the limit together");
    await home.advance(FINALIZED);
    await away.advance(FINALIZED);
    assert.deepEqual(await statusesOf(intent), ["counted", "counted", "counted"]);
  });

  test("D46 instalments over several chains share one limit", async () => {
    const intent = await roads.create();
    await payAndConfirm(home, intent, 900n * USDC);
    await payAndConfirm(away, intent, 900n * USDC);
    assert.deepEqual(await statusesOf(intent), ["counted", "seen"]);
    assert.equal((await depositsOf(intent))[1]?.required, null, "the chain's own finality decides");
    await away.advance(FINALIZED - 10);
    assert.deepEqual(await statusesOf(intent), ["counted", "seen"]);
    // The instalment at home is final there, so nothing but this one is exposed.
    await home.advance(FINALIZED);
    await away.advance(1);
    assert.deepEqual(await statusesOf(intent), ["counted", "counted"]);
  });

  test("D46 a deposit whose chain reorganised is not counted by another chain's loop", async () => {
    const intent = await roads.create({ priceUnits: Number(LIMIT), oneTime: true });
    home.pay(intent, 900n * USDC);
    await home.advance(2);
    assert.deepEqual(await statusesOf(intent), ["seen"]);
    home.scripted.reorg(2, { longerBy: 4, isLost: () => true });
    await home.watch();
    await payAndConfirm(away, intent, 100n * USDC);
    assert.deepEqual(await statusesOf(intent), ["seen", "counted"]);
    assert.equal((await roads.intent(intent)).status, "active");
    const early = (await eventsOf(intent)).filter((type) => /paid|settled/.test(type));
    assert.deepEqual(early, ["payment_intent.partially_paid"]);
    await home.decide();
    assert.deepEqual(await statusesOf(intent), ["dropped", "counted"]);
  });

  test("D46 what a chain that is behind holds does not help to reach the price, and still exposes", async () => {
    const intent = await roads.create({ priceUnits: 1_500_000_000, oneTime: true });
    home.pay(intent, 800n * USDC);
    await home.advance(2);
    await poison(intent);
    // The home chain's station fails for this intent from here on, and quarantines it.
    home.pay(intent, 1n * USDC);
    await home.advance(4);
    assert.equal((await db.root.selectFrom("quarantine").selectAll().execute()).length, 1);
    await payAndConfirm(away, intent, 700n * USDC);
    assert.deepEqual(await statusesOf(intent), ["seen", "seen"]);
    assert.equal((await depositsOf(intent))[1]?.required, null, "1,500 are exposed");
    await away.advance(FINALIZED);
    assert.deepEqual(await statusesOf(intent), ["seen", "counted"]);
    assert.equal((await roads.intent(intent)).status, "active");
    await sql.raw("drop trigger poison on deposit").execute(db.root);
    roads.passTime(3_600_000);
    await home.advance(4);
    assert.deepEqual(await statusesOf(intent), ["counted", "counted", "counted"]);
    assert.equal((await roads.intent(intent)).status, "settled");
  });

  /** Makes the database refuse further deposits of the intent. */
  async function poison({ id }: IntentRow): Promise<void> {
    const condition = `new.intent_id = '${id}' and new.amount_units = ${USDC}`;
    for (const statement of [
      `create or replace function refuse_poison() returns trigger language plpgsql as $body$ begin
         if ${condition} then raise exception 'poison' using errcode = '23514'; end if; return new; end $body$`,
      "create or replace trigger poison before insert on deposit for each row execute function refuse_poison()",
    ])
      await sql.raw(statement).execute(db.root);
  }
});
