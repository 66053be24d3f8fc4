import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { concat, keccak256, type Hex } from "viem";
import { activeAlarms, updateAlarms } from "../../src/alarm/updateAlarms.ts";
import { receiveCrossings } from "../../src/bridge/receiveCrossings.ts";
import { trackCrossings } from "../../src/bridge/trackCrossings.ts";
import { DEFAULT_SETTINGS, type AttestedMessage } from "../../src/dev/attestation/localAttestation.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";

// A bridge's service, or a proxy before it, that answers with proofs which prove nothing.

const UNITS = 20_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/** Offsets in a message, in bytes. */
const [NONCE, BODY] = [12, 148];
const [AMOUNT, FEE] = [BODY + 68, BODY + 164];

type Alter = (signed: AttestedMessage) => AttestedMessage;

function replaceWord({ message, ...rest }: AttestedMessage, start: number, word: Hex): AttestedMessage {
  const digits = message.slice(2);
  const end = start * 2 + word.length - 2;
  return { ...rest, message: `0x${digits.slice(0, start * 2)}${word.slice(2)}${digits.slice(end)}` };
}

const toWord = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;

const ALTERED: readonly { what: string; alter: Alter; reason: RegExp }[] = [
  {
    what: "another's signature",
    alter: (signed) => ({ ...signed, attestation: `0x${"11".repeat(64)}1b` }),
    reason: /^receive_refused .*not attester/,
  },
  {
    what: "one signature too many",
    alter: (signed) => ({ ...signed, attestation: `${signed.attestation}${"00".repeat(65)}` as Hex }),
    reason: /^receive_refused .*attestation length/,
  },
  {
    what: "a smaller fee than the signed one",
    alter: (signed) => replaceWord(signed, FEE, toWord(0n)),
    reason: /^receive_refused .*not attester/,
  },
  {
    what: "another amount",
    alter: (signed) => replaceWord(signed, AMOUNT, toWord(1n)),
    reason: /^proof_of_another_burn$/,
  },
];

describe("proofs that prove nothing", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair());
  });
  afterEach(() => {
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
  });
  after(() => road.close());

  const crossingOf = (intent: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", intent.id).executeTakeFirst();
  const hasReason = (intent: IntentRow, reason: RegExp) => async () =>
    reason.test((await crossingOf(intent))?.reason ?? "");
  const landedAmounts = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits } = settlementRecord(row);
      return [status, ...[grossUnits, routeCostUnits, feeUnits, netUnits].map(Number)];
    });

  async function payAcross(): Promise<IntentRow> {
    const intent = await road.create(home);
    await road.pay(away, intent, UNITS);
    return intent;
  }

  /** Asks and receives, once a minute. Returns how often the service was asked for a proof. */
  async function passMinutes(minutes: number): Promise<number> {
    const before = road.attestation.requests.length;
    for (let minute = 0; minute < minutes; minute += 1) {
      road.advance(MINUTE_MS);
      if (road.world.bridge !== undefined) await trackCrossings(road.world, road.world.bridge);
      for (const chain of road.world.chains.values()) await receiveCrossings(road.world, chain);
    }
    return road.attestation.requests.slice(before).filter(({ path }) => path.startsWith("/v2/messages/")).length;
  }

  for (const { what, alter, reason } of ALTERED)
    test(`a proof with ${what} is asked for again ever less often, and the right one lands`, async () => {
      road.attestation.settings.alter = alter;
      const intent = await payAcross();
      await road.until(hasReason(intent, reason));
      const calls = await passMinutes(HOUR_MINUTES);
      assert.ok(calls >= 5 && calls <= HOUR_MINUTES, `${calls} calls in an hour`);
      assert.equal(await hasReason(intent, reason)(), true);
      assert.equal((await road.settlements(intent))[0]?.status, "bridging");
      road.attestation.settings.alter = undefined;
      road.advance(10 * MINUTE_MS);
      await road.untilLanded(intent);
      assert.deepEqual(await landedAmounts(intent), [["landed", 20_000_000, 2_600, 99_987, 19_897_413]]);
    });

  test("a proof with a number that another burn has used is asked for again when nothing arrives", async () => {
    // A number that the settle chain knows, and no crossing of the database.
    const used = toWord(0x5edn);
    const slot = keccak256(concat([used, toWord(0n)]));
    await home.client.request({
      method: "anvil_setStorageAt",
      params: [road.sides[0]?.bridge.transmitter, slot, toWord(1n)],
    } as never);
    const mint = `cctp-v2/1/${used}`;
    road.attestation.settings.alter = (signed) => replaceWord(signed, NONCE, used);
    const intent = await payAcross();
    await road.until(async () => (await crossingOf(intent))?.mint === mint);
    await passMinutes(HOUR_MINUTES);
    road.attestation.settings.alter = undefined;
    await passMinutes(15);
    await road.untilLanded(intent);
    assert.deepEqual(await landedAmounts(intent), [["landed", 20_000_000, 2_600, 99_987, 19_897_413]]);
  });

  test("a proof that the chain refuses is reported after 15 minutes as not received, with the chain's words", async () => {
    const alarms = async () => {
      await updateAlarms(road.world);
      return activeAlarms(road.world).flatMap(({ alarm, facts }) =>
        alarm.startsWith("crossing") ? [[alarm, facts["intent"], String(facts["reason"])]] : [],
      );
    };
    road.attestation.settings.alter = ALTERED[0]?.alter;
    const intent = await payAcross();
    await road.until(hasReason(intent, /^receive_refused/));
    assert.deepEqual(await alarms(), []);
    await passMinutes(16);
    const expected = [["crossing_not_received", intent.id, (await crossingOf(intent))?.reason]];
    assert.deepEqual(await alarms(), expected);
    await passMinutes(3 * HOUR_MINUTES);
    assert.deepEqual(await alarms(), expected, "and not as late too");
    road.attestation.settings.alter = undefined;
    road.advance(10 * MINUTE_MS);
    await road.untilLanded(intent);
    assert.deepEqual(await alarms(), []);
  });
});
