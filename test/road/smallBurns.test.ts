import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { activeAlarms, updateAlarms } from "../../src/alarm/updateAlarms.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { bridgeCall } from "../support/bridgeCall.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { callInOneTransaction, nextContract, transferCall } from "../support/oneTransaction.ts";

// A receipt costs the same for every amount, so a stranger who burns little on a cheap chain spends the gas of an
// expensive one.

const { stranger, payer } = DEV_ACCOUNTS;
/** The minimum is 10,000. */
const GRAIN = 2_000n;
const GRAINS = 4;
const HOUR_MS = 3_600_000;

describe("burns below the minimum", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair());
  });
  after(() => road.close());

  /** A stranger pays and bridges one small amount after the other in one transaction. */
  async function burnGrains(intent: IntentRow): Promise<void> {
    const burn = await bridgeCall(road, away, { intent });
    const pay = transferCall(away.usdc.address, intent.inbox_address, GRAIN);
    const contract = await nextContract(away, stranger);
    await away.pay(away.usdc.address, contract, { amountUnits: GRAIN * BigInt(GRAINS), from: payer });
    await callInOneTransaction(away, stranger, Array.from({ length: GRAINS }, () => [pay, burn]).flat());
  }

  const crossingsOf = ({ id }: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", id).orderBy("movement_id").execute();
  const countLanded = async (intent: IntentRow) =>
    (await crossingsOf(intent)).filter(({ status }) => status === "landed").length;
  const reasonsOf = async (intent: IntentRow) =>
    (await crossingsOf(intent)).filter(({ status }) => status !== "landed").map(({ reason }) => reason);

  test("a stranger's small burns cost one receipt an hour, delay no other crossing, raise no alarm, and all land", async () => {
    const [attacked, other] = [await road.create(home), await road.create(home)];
    await burnGrains(attacked);
    const waiting = Array.from({ length: GRAINS - 1 }, () => "below_minimum");
    await road.until(
      async () => (await countLanded(attacked)) === 1 && String(await reasonsOf(attacked)) === String(waiting),
    );
    await road.pay(away, other, 20_000_000n);
    await road.untilLanded(other);
    road.advance(HOUR_MS / 2);
    for (let rounds = 0; rounds < 3; rounds += 1) await road.tick();
    assert.equal(await countLanded(attacked), 1, "the next small burn waits for the hour");
    await updateAlarms(road.world);
    assert.deepEqual(
      activeAlarms(road.world).filter(({ alarm }) => alarm.startsWith("crossing")),
      [],
    );
    for (let landed = 2; landed <= GRAINS; landed += 1) {
      road.advance(HOUR_MS);
      await road.until(async () => (await countLanded(attacked)) === landed);
    }
    const { settled_units: settled } = await road.intent(attacked);
    assert.equal(settled, GRAIN * BigInt(GRAINS));
    assert.equal((await road.balances(home, attacked)).inbox, 0n);
  });
});

describe("crossings that are worth less than their receipt", () => {
  /** Above the minimum, and below the cost of a receipt by far. */
  const CHEAP = 20_000n;
  const DEAR = 20_000_000n;
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair({ nativeUsd: "3000" }));
  });
  after(() => road.close());

  const crossingsOf = (intents: readonly IntentRow[]) =>
    road.db.root
      .selectFrom("crossing")
      .selectAll()
      .where(
        "intent_id",
        "in",
        intents.map(({ id }) => id),
      )
      .orderBy("units")
      .execute();
  const countOf = async (intents: readonly IntentRow[], status: string) =>
    (await crossingsOf(intents)).filter((crossing) => crossing.status === status).length;

  async function payCheap(count: number): Promise<IntentRow[]> {
    const intents: IntentRow[] = [];
    for (let index = 0; index < count; index += 1) {
      const intent = await road.create(home);
      await road.pay(away, intent, CHEAP + BigInt(index));
      intents.push(intent);
    }
    return intents;
  }

  test("they go together once an hour, and neither dearer ones nor reached prices wait for them", async () => {
    // The turn of this hour.
    const first = await payCheap(1);
    await road.until(async () => (await countOf(first, "landed")) === 1);
    const second = await payCheap(3);
    await road.until(async () => (await countOf(second, "attested")) === 3);
    await road.tick();
    assert.deepEqual(
      (await crossingsOf(second)).map(({ queue, reason }) => [queue, reason]),
      Array.from({ length: 3 }, () => [2, "worth_less_than_its_mint"]),
    );
    const [dear, reached] = [
      await road.create(home),
      await road.create(home, { priceUnits: Number(CHEAP), oneTime: true }),
    ];
    await road.pay(away, dear, DEAR);
    await road.pay(away, reached, CHEAP);
    await road.untilLanded(dear);
    await road.untilLanded(reached);
    assert.equal(await countOf(second, "landed"), 0);
    await updateAlarms(road.world);
    assert.deepEqual(
      activeAlarms(road.world).filter(({ alarm }) => alarm.startsWith("crossing")),
      [],
    );
    road.advance(HOUR_MS);
    await road.until(async () => (await countOf(second, "landed")) === 3);
  });

  test("one whose price is reached later goes at once", async () => {
    const intent = await road.create(home, { priceUnits: 2 * Number(CHEAP), oneTime: true });
    await road.pay(away, intent, CHEAP);
    await road.until(async () => (await crossingsOf([intent]))[0]?.queue === 2);
    await road.pay(home, intent, CHEAP);
    road.advance(6 * 60_000);
    await road.until(async () => (await countOf([intent], "landed")) === 1);
  });
});
