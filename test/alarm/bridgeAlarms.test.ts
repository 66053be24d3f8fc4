import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { activeAlarms, updateAlarms } from "../../src/alarm/updateAlarms.ts";
import { refreshFees } from "../../src/bridge/fees.ts";
import { denylistCall, undenylistCall } from "../../src/dev/chains/bridge.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { settlementChecks } from "../../src/settlement/checks.ts";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { AlarmName } from "../../src/kernel/alarm/alarmTable.ts";
import { renderMetrics } from "../../src/metrics/metrics.ts";
import { checkBridge } from "../../src/operator/doctor/checkBridge.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";

const USDC = 1_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The finality of the chains of a bridged road, three times. */
const FINALITIES_MS = 45 * MINUTE_MS;

describe("alarms about a bridge", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair());
  });
  afterEach(() => {
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    road.attestation.setAnswering(true);
  });
  after(() => road.close());

  /** Pays on one chain for an intent that settles on the other. */
  async function payAcross(): Promise<IntentRow> {
    const intent = await road.create(home);
    await road.pay(away, intent, 20n * USDC);
    return intent;
  }
  const crossingOf = (intent: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", intent.id).executeTakeFirst();
  const hasCrossing = (intent: IntentRow, status: string) => async () => (await crossingOf(intent))?.status === status;
  /** The facts of the alarms of a name, after one run of all checks. */
  async function alarmsOf(name: AlarmName) {
    await updateAlarms(road.world);
    return activeAlarms(road.world).flatMap(({ alarm, subject, facts }) =>
      alarm === name ? [{ subject, facts }] : [],
    );
  }

  test("a burn that the service does not sign is late after an hour and three times its chain's finality, with the service's reason", async () => {
    road.attestation.settings.delayReason = "insufficient_allowance_available";
    const intent = await payAcross();
    await road.until(hasCrossing(intent, "burned"));
    road.advance(HOUR_MS + FINALITIES_MS - MINUTE_MS);
    await road.tick();
    assert.deepEqual(await alarmsOf("crossing_late"), []);
    road.advance(2 * MINUTE_MS);
    assert.deepEqual(await alarmsOf("crossing_late"), [
      {
        subject: away.caip2,
        facts: {
          chain: away.caip2,
          settleChain: home.caip2,
          crossings: 1,
          intent: intent.id,
          reason: "insufficient_allowance_available",
        },
      },
    ]);
    const { text } = await renderMetrics(road.world);
    assert.match(text, new RegExp(`tributary_crossings\\{chain="${away.caip2}",status="burned"\\} 1`));
    const [, seconds] =
      new RegExp(`tributary_oldest_crossing_seconds\\{chain="${away.caip2}"\\} (\\d+)`).exec(text) ?? [];
    assert.ok(Number(seconds) * 1_000 >= HOUR_MS + FINALITIES_MS, `${seconds} s`);
    road.attestation.settings.delayReason = undefined;
    await road.untilLanded(intent);
    assert.deepEqual(await alarmsOf("crossing_late"), []);
    const after = (await renderMetrics(road.world)).text;
    for (const status of ["burned", "attested"])
      assert.match(after, new RegExp(`tributary_crossings\\{chain="${away.caip2}",status="${status}"\\} 0`));
    assert.match(after, new RegExp(`tributary_oldest_crossing_seconds\\{chain="${away.caip2}"\\} 0`));
  });

  test("a signed burn that the settle chain refuses is reported after 15 minutes, with the chain's reason", async () => {
    const payout = DEV_ACCOUNTS.payoutFirst.address;
    await home.blocklist(home.usdc.address, payout);
    const intent = await payAcross();
    await road.until(async () => (await crossingOf(intent))?.reason?.startsWith("settle_refused") === true);
    const signedAt = (await crossingOf(intent))?.status_since;
    road.advance(14 * MINUTE_MS - (road.world.clock.now().getTime() - (signedAt?.getTime() ?? 0)));
    await road.tick();
    assert.deepEqual(await alarmsOf("crossing_not_received"), []);
    road.advance(2 * MINUTE_MS);
    const [found, ...others] = await alarmsOf("crossing_not_received");
    assert.deepEqual(others, []);
    assert.equal(found?.subject, home.caip2);
    assert.match(String(found?.facts["reason"]), /^settle_refused ./);
    assert.deepEqual([found?.facts["crossings"], found?.facts["intent"]], [1, intent.id]);
    assert.deepEqual(await alarmsOf("crossing_late"), []);
    await home.unblocklist(home.usdc.address, payout);
    road.advance(HOUR_MS);
    await road.untilLanded(intent);
    assert.deepEqual(await alarmsOf("crossing_not_received"), []);
  });

  test("a service that does not answer for ten minutes is reported although nothing crosses, until it answers", async () => {
    const ask = async () => {
      road.advance(5 * MINUTE_MS);
      assert.ok(await refreshFees(road.world));
    };
    await ask();
    road.attestation.setAnswering(false);
    await ask();
    await ask();
    assert.deepEqual(await alarmsOf("bridge_unavailable"), []);
    await ask();
    const [found, ...others] = await alarmsOf("bridge_unavailable");
    assert.deepEqual(others, []);
    assert.equal(found?.subject, new URL(road.attestation.url).host);
    assert.match(String(found?.facts["reason"]), /is unreachable/);
    road.attestation.setAnswering(true);
    await ask();
    assert.deepEqual(await alarmsOf("bridge_unavailable"), []);
  });

  test("a service that answers about fees and not about burns is reported", async () => {
    road.attestation.settings.delayReason = "insufficient_fee";
    const intent = await payAcross();
    await road.until(hasCrossing(intent, "burned"));
    road.attestation.setAnswering(false);
    for (let minutes = 0; minutes < 12; minutes += 1) {
      road.advance(MINUTE_MS);
      await road.tick();
    }
    road.attestation.setAnswering(true);
    assert.ok(await refreshFees(road.world));
    assert.equal((await alarmsOf("bridge_unavailable")).length, 1);
    road.attestation.settings.delayReason = undefined;
    await road.untilLanded(intent);
    assert.deepEqual(await alarmsOf("bridge_unavailable"), []);
  });

  for (const { speed, setting, below, near, capPpm } of [
    { speed: "fast", setting: "fastFeeBps", below: 19.99, near: 20, capPpm: 3_000 },
    { speed: "standard", setting: "standardFeeBps", below: 6.66, near: 6.67, capPpm: 1_000 },
  ] as const) {
    test(`a ${speed} fee that reaches two thirds of the pinned cap is reported for each pair, before it bites`, async () => {
      const set = async (bps: number) => {
        road.attestation.settings[setting] = bps;
        for (const _ of road.chains) {
          road.advance(5 * MINUTE_MS);
          await refreshFees(road.world);
        }
        return alarmsOf("bridge_fee_near_cap");
      };
      assert.deepEqual(await set(below), []);
      const found = await set(near);
      assert.deepEqual(
        found.map(({ facts }) => [
          facts["chain"],
          facts["settleChain"],
          facts["speed"],
          facts["feePpm"],
          facts["capPpm"],
        ]),
        [
          [home.caip2, away.caip2, speed, near * 100, capPpm],
          [away.caip2, home.caip2, speed, near * 100, capPpm],
        ],
      );
      assert.deepEqual(await set(below), []);
    });
  }

  test("a gas account that the bridge refuses is one alarm that names it, and holds no settlement", async () => {
    const wallet = DEV_ACCOUNTS.operator.address;
    const bridge = road.sides[1]?.bridge;
    assert.ok(bridge);
    await away.send(DEV_ACCOUNTS.issuer, [denylistCall(bridge, wallet)]);
    const intents = [await payAcross(), await payAcross()];
    for (let hour = 0; hour < 12; hour += 1) {
      road.advance(HOUR_MS);
      await road.tick();
    }
    for (const intent of intents)
      assert.deepEqual(
        (await road.settlements(intent)).map(({ status, attempts }) => [status, attempts]),
        [["planned", 0]],
      );
    const [found, ...others] = await alarmsOf("bridge_refuses_payer");
    assert.deepEqual(others, []);
    assert.equal(found?.subject, away.caip2);
    assert.equal(String(found?.facts["payer"]).toLowerCase(), wallet.toLowerCase());
    await away.send(DEV_ACCOUNTS.issuer, [undenylistCall(bridge, wallet)]);
    road.advance(MINUTE_MS);
    for (const intent of intents) await road.untilLanded(intent);
    assert.deepEqual(await alarmsOf("bridge_refuses_payer"), []);
  });

  test("a crossing that is postponed for longer than a day is an alarm, and a check finds it", async () => {
    road.attestation.settings.delayReason = "insufficient_fee";
    const intent = await payAcross();
    await road.until(hasCrossing(intent, "burned"));
    road.advance(23 * HOUR_MS);
    await road.tick();
    assert.deepEqual(await alarmsOf("crossing_postponed"), []);
    road.advance(2 * HOUR_MS);
    await road.tick();
    const [found] = await alarmsOf("crossing_postponed");
    assert.deepEqual([found?.subject, found?.facts["intent"]], [home.caip2, intent.id]);
    const violations = await runChecks(road.db, settlementChecks);
    assert.deepEqual(
      violations.map(({ check }) => check),
      ["crossing-goes-on"],
    );
    road.attestation.settings.delayReason = undefined;
    await road.untilLanded(intent);
    assert.deepEqual(await alarmsOf("crossing_postponed"), []);
  });

  test("doctor says whether the service answers, and warns of a fee above the limit or the caps", async () => {
    const ask = async (settings: Partial<typeof DEFAULT_SETTINGS>) => {
      Object.assign(road.attestation.settings, settings);
      road.restart();
      road.advance(6 * MINUTE_MS);
      return (await checkBridge(road.world)).map(({ what, verdict, found }) => [what, verdict, found]);
    };
    const { host } = new URL(road.attestation.url);
    const service = ["bridge: service", "ok", `${host} answers`];
    const both = (verdict: string, found: string) => [
      service,
      ["bridge: Chain 0 to Chain 1", verdict, found],
      ["bridge: Chain 1 to Chain 0", verdict, found],
    ];
    assert.deepEqual(await ask({}), both("ok", "fast 1.3 bps, standard 0 bps"));
    assert.deepEqual(
      await ask({ fastFeeBps: 5.1 }),
      both(
        "warn",
        "fast 5.1 bps, standard 0 bps: fast is above bridge.fastFeePpmMax of 5 bps, so deposits go standard",
      ),
    );
    assert.deepEqual(
      await ask({ standardFeeBps: 11 }),
      both("warn", "fast 5.1 bps, standard 11 bps: standard is above its cap of 10 bps, so deposits go fast"),
    );
    assert.deepEqual(
      await ask({ fastFeeBps: 31 }),
      both("warn", "fast 31 bps, standard 11 bps: both are above their caps, so deposits wait"),
    );
    road.attestation.setAnswering(false);
    const [unavailable, ...others] = await ask({});
    assert.deepEqual(others, []);
    assert.deepEqual(unavailable?.slice(0, 2), ["bridge: service", "fail"]);
    assert.match(String(unavailable?.[2]), /is unreachable: .*: burns wait$/);
  });
});
