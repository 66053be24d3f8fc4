import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openTestDatabase } from "../../../test/support/database.ts";
import { openScriptedRoads, type RoadChain, type ScriptedRoads } from "../../../test/support/scriptedRoads.ts";
import { runLedgerChecks } from "../../audit/runLedgerChecks.ts";
import { checkCountedRule } from "./checkCountedRule.ts";
import type { FinalityTier } from "../../config/config.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import { onlyDeep } from "../../../test/support/runNumber.ts";

const USDC = 1_000_000n;
const TIERS: FinalityTier[] = [
  { upToPriceUnits: 1_000n * USDC, finality: { confirmations: 3 } },
  { upToPriceUnits: undefined, finality: { tag: "finalized" } },
];
const FINALIZED = 40;

// The tests look only at the check, so that a decision that counts early shows there and nowhere else.
describe("the check of the rule by which each deposit counted", () => {
  let db: Db;
  let roads: ScriptedRoads;
  let chain: RoadChain;
  let away: RoadChain;
  before(async () => {
    db = await openTestDatabase("postgres");
    const options = { finality: TIERS, finalized: FINALIZED };
    roads = await openScriptedRoads(db, { chains: [options, options] });
    const [first, second] = roads.chains;
    assert(first && second);
    [chain, away] = [first, second];
  });
  after(() => db.close());

  const violations = async () =>
    (await runLedgerChecks(db)).filter(({ check }) => check === "deposit-counted-by-its-rule");
  const deposits = ({ id }: IntentRow) =>
    db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute();

  test("finds nothing while deposits count by their rules", async () => {
    const intent = await roads.create();
    for (const units of [900n, 900n, 50n, 2_000n]) {
      chain.pay(intent, units * USDC);
      for (let block = 0; block < 4; block += 1) {
        await chain.advance(1);
        assert.deepEqual(await violations(), []);
      }
    }
    await chain.advance(FINALIZED);
    assert.deepEqual(await violations(), []);
    const counted = await deposits(intent);
    assert.ok(counted.every(({ counted_final_block: final, block_number: block }) => final !== null && block <= final));
    assert.deepEqual(
      counted.map(({ counted_limit_units: limit }) => limit),
      // The last one counted once it was final by the strictest rule, and then exposes nothing.
      [1_000n * USDC, null, null, 1_000n * USDC],
    );
  });

  test("raises no false alarm after a reorganisation, which counts a deposit anew, or takes it", async () => {
    const intent = await roads.create();
    chain.pay(intent, 700n * USDC);
    chain.pay(intent, 200n * USDC);
    await chain.advance(4);
    const [before] = await deposits(intent);
    chain.scripted.reorg(6, { longerBy: 1 });
    await chain.watch();
    await chain.decide();
    assert.deepEqual(await violations(), []);
    await chain.advance(4);
    assert.deepEqual(await violations(), []);
    const [again] = await deposits(intent);
    assert.equal(again?.status, "counted");
    assert.notEqual(again.counted_final_block, before?.counted_final_block);
    chain.scripted.reorg(14, { longerBy: 1, isLost: () => true });
    await chain.watch();
    await chain.decide();
    const dropped = await deposits(intent);
    assert.deepEqual(
      dropped.map(({ status, counted_final_block: final }) => [status, final]),
      dropped.map(() => ["dropped", null]),
    );
    assert.deepEqual(await violations(), []);
  });

  test(
    "raises no false alarm after the clock has stepped back, which dates a later count before an earlier one",
    { skip: onlyDeep },
    async () => {
      const intent = await roads.create();
      roads.passTime(3_600_000);
      chain.pay(intent, 900n * USDC);
      await chain.advance(4);
      roads.passTime(-3_600_000);
      await chain.advance(FINALIZED);
      chain.pay(intent, 900n * USDC);
      await chain.advance(4);
      const [first, second] = await deposits(intent);
      assert.deepEqual([first?.status, second?.status], ["counted", "counted"]);
      assert.ok(first?.counted_at && second?.counted_at && second.counted_at < first.counted_at);
      assert.deepEqual(await violations(), []);
    },
  );

  test("raises no false alarm when the clock steps back between counts on two chains", { skip: onlyDeep }, async () => {
    const intent = await roads.create();
    roads.passTime(3_600_000);
    chain.pay(intent, 900n * USDC);
    await chain.advance(4);
    roads.passTime(-3_600_000);
    await chain.advance(FINALIZED);
    away.pay(intent, 900n * USDC);
    await away.advance(4);
    const [first, second] = await deposits(intent);
    assert.deepEqual([first?.status, second?.status], ["counted", "counted"]);
    assert.ok(first?.counted_at && second?.counted_at && second.counted_at < first.counted_at);
    assert.deepEqual(await violations(), []);
  });

  test("raises no false alarm when the clock steps back and the later count is final by the strictest rule", async () => {
    const intent = await roads.create();
    roads.passTime(3_600_000);
    chain.pay(intent, 900n * USDC);
    await chain.advance(3);
    roads.passTime(-3_600_000);
    away.pay(intent, 900n * USDC);
    // The first chain stands still, so the finality that the second count sees there is the same.
    await away.advance(FINALIZED + 2);
    const [first, second] = await deposits(intent);
    assert.ok(first?.counted_at && second?.counted_at && second.counted_at < first.counted_at);
    assert.ok(second.counted_next_block !== null && second.block_number <= second.counted_next_block);
    assert.deepEqual(await violations(), []);
    await chain.advance(FINALIZED);
  });

  test("sees what the other chains of the intent could still lose, and a loop raises an alarm", async () => {
    const intent = await roads.create();
    const raised = () =>
      roads.alarms.filter(({ alarm, intent: of }) => alarm === "deposit_counted_early" && of === intent.id);
    async function look(): Promise<void> {
      roads.passTime(120_000);
      while (await checkCountedRule(roads.world));
    }
    chain.pay(intent, 900n * USDC);
    await chain.advance(4);
    away.pay(intent, 900n * USDC);
    await away.advance(4);
    assert.deepEqual(
      (await deposits(intent)).map(({ status }) => status),
      ["counted", "seen"],
    );
    await chain.advance(FINALIZED);
    await away.advance(1);
    const [, second] = await deposits(intent);
    assert.equal(second?.status, "counted");
    assert.deepEqual(Object.keys(JSON.parse(second.counted_elsewhere ?? "{}") as object), [chain.chain.caip2]);
    await look();
    assert.deepEqual([await violations(), raised()], [[], []]);
    away.pay(intent, 10n * USDC);
    await away.advance(4);
    const last = (await deposits(intent)).at(-1);
    assert.equal(last?.status, "counted");
    // As a decision that never saw the first chain, and one that believed too much of it, would have stored it.
    for (const elsewhere of [null, JSON.stringify({ [chain.chain.caip2]: "0" })]) {
      await db.root
        .updateTable("deposit")
        .set({ counted_elsewhere: elsewhere, counted_limit_units: 1_000n * USDC, counted_next_block: 1_000n })
        .where("id", "=", last.id)
        .execute();
      assert.deepEqual(
        (await violations()).flatMap(({ rows }) => rows.map(({ deposit }) => deposit)),
        [],
        "900 on the other chain are within the limit alone",
      );
    }
    await away.advance(FINALIZED);
    chain.pay(intent, 200n * USDC);
    await chain.advance(4);
    chain.pay(intent, 20n * USDC);
    await chain.advance(4);
    await db.root
      .updateTable("deposit")
      .set({ counted_at: roads.world.clock.now() })
      .where("id", "=", last.id)
      .execute();
    assert.deepEqual(
      (await violations()).flatMap(({ rows }) => rows.map(({ deposit }) => deposit)),
      [last.id],
    );
    await look();
    assert.deepEqual(
      raised().map(({ deposit }) => deposit),
      [last.id],
    );
    await db.root
      .updateTable("deposit")
      .set({ counted_elsewhere: null, counted_limit_units: null, counted_next_block: null })
      .where("id", "=", last.id)
      .execute();
  });

  test("sees two chains that counted in the same instant without each other, and not those that saw each other", async () => {
    const intent = await roads.create();
    chain.pay(intent, 900n * USDC);
    away.pay(intent, 50n * USDC);
    await Promise.all([chain.advance(4), away.advance(4)]);
    const [first, second] = await deposits(intent);
    assert(first && second);
    assert.deepEqual([first.status, second.status], ["counted", "counted"]);
    const found = async () => (await violations()).flatMap(({ rows }) => rows.map(({ deposit }) => deposit));
    const change = (id: string, values: object) =>
      db.root.updateTable("deposit").set(values).where("id", "=", id).execute();
    const at = first.counted_at;
    for (const { id } of [first, second]) await change(id, { counted_at: at });
    assert.deepEqual(await found(), [], "950 are within the limit");
    // As if 900 had come on both chains, of which each saw nothing of the other.
    const unseen = { counted_elsewhere: null, counted_limit_units: 1_000n * USDC, counted_next_block: 0n };
    for (const { id } of [first, second]) await change(id, { ...unseen, amount_units: 900n * USDC });
    assert.deepEqual(new Set(await found()), new Set([first.id, second.id]));
    // The later one saw the block of the other as final, so it is allowed.
    const [lastOf, other] = [second, first];
    const elsewhere = JSON.stringify({ [other.chain]: String(other.block_number) });
    await change(lastOf.id, { counted_elsewhere: elsewhere });
    assert.deepEqual(await found(), []);
    for (const { id, amount_units, counted_units } of [first, second])
      await change(id, {
        amount_units,
        counted_units,
        counted_elsewhere: null,
        counted_limit_units: null,
        counted_next_block: null,
      });
  });

  test("raises no false alarm after the rules became stricter, or more generous", async () => {
    const intent = await roads.create();
    chain.pay(intent, 900n * USDC);
    await chain.advance(4);
    const [lenient, strict] = TIERS;
    assert(lenient && strict);
    const config = roads.world.catalog.chains.find(({ caip2 }) => caip2 === chain.chain.caip2);
    assert(config);
    for (const finality of [[strict], [{ ...lenient, upToPriceUnits: 10n * USDC }, strict], TIERS]) {
      Object.assign(config, { finality });
      chain.pay(intent, 90n * USDC);
      await chain.advance(4);
      assert.deepEqual(await violations(), []);
    }
    await chain.advance(FINALIZED);
    assert.deepEqual(await violations(), []);
  });
});
