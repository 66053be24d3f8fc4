import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle } from "@tributary/inbox/solana/instructions";
import { readAlarms } from "../../src/alarm/updateAlarms.ts";
import { toSolanaPayTerms } from "../../src/chain/solana/intentInbox.ts";
import { LOCAL_INBOX_PROGRAM, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { checkUnreadable } from "../../src/operator/doctor/checkUnreadable.ts";
import { startSolanaProxy, type SolanaFault, type SolanaProxy } from "../support/solanaProxy.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";

// What no reader can parse stops neither its chain nor the money beside it.

const USDC = 1_000_000n;
const UNITS = 7n * USDC;
const { stranger } = SOLANA_ACCOUNTS;

describe("a transaction of a version that this release does not read", () => {
  let road: SolanaRoad;
  let proxies: readonly SolanaProxy[];
  /** Signatures that the nodes refuse, by their answer. */
  const later = new Set<string>();
  before(async () => {
    road = await openSolanaRoad({
      rpcUrls: async (honest) => {
        proxies = await Promise.all([startSolanaProxy(honest), startSolanaProxy(honest)]);
        return proxies.map(({ url }) => url);
      },
    });
  });
  beforeEach(() => {
    later.clear();
    for (const proxy of proxies) proxy.fault = refuseLater;
  });
  after(async () => {
    await road.close();
    for (const proxy of proxies) proxy.close();
  });

  const refuseLater: SolanaFault = async (call, forward) => {
    const isLater = call.method === "getTransaction" && later.has(String(call.params[0]));
    const message = "Transaction version (2) is not supported by the requesting client.";
    return isLater ? { error: { code: -32_015, message } } : forward();
  };
  const rows = () => road.db.root.selectFrom("unreadable").selectAll().execute();
  const inboxOf = (intent: IntentRow) =>
    computeSolanaInbox(toSolanaPayTerms(intent), {
      program: intent.inbox_hub,
      tokenProgram: intent.inbox_implementation,
    });
  /** A stranger's transaction that names an address and moves nothing. */
  const name = (address: string) => road.solana.control.airdrop(address, 1n);
  const untilRow = () => road.until(async () => (await rows()).length > 0);
  /** Until the pending retry is due, then once more. */
  const retry = async () => {
    road.advance(24 * 3_600_000);
    await road.tick();
  };

  test("one that names the program is a row, and payments and payouts beside it go on", async () => {
    later.add(name(LOCAL_INBOX_PROGRAM));
    const intent = await road.create();
    road.pay(intent, UNITS);
    await road.untilLanded(intent);
    const [row, ...others] = await rows();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [row?.subject, row?.reason, row?.inboxes, row?.names_program],
      [[...later][0], "version 2", [], true],
    );
    const alarms = await readAlarms(road.world);
    assert.ok(alarms.some(({ alarm, facts }) => alarm === "unreadable_rows" && facts["rows"] === 1));
    later.clear();
    await retry();
    assert.deepEqual(await rows(), []);
  });

  test("a payment in one is recorded once it can be read, and the readable ones of its inbox count before", async () => {
    const intent = await road.create();
    const first = road.pay(intent, UNITS);
    later.add(road.pay(intent, 2n * UNITS));
    road.solana.control.nextSlot();
    later.add(name(inboxOf(intent).tokenAccount));
    await road.until(async () => (await road.intent(intent)).counted_units === UNITS);
    await untilRow();
    assert.ok((await rows()).every(({ inboxes }) => inboxes.includes(intent.inbox_address)));
    // A difference that something unreadable may explain accuses nobody.
    for (let rounds = 0; rounds < 60; rounds += 1) {
      await road.tick();
      road.solana.control.nextSlot();
      road.advance(2_000);
    }
    assert.deepEqual(await road.db.root.selectFrom("balance_difference").selectAll().execute(), []);
    const [finding] = await checkUnreadable(road.world);
    assert.equal(finding?.verdict, "warn");
    assert.ok(finding.found.includes(intent.inbox_address), finding.found);
    later.clear();
    await retry();
    await road.until(async () => (await road.intent(intent)).counted_units === 3n * UNITS);
    assert.deepEqual(await rows(), []);
    const deposits = await road.db.root.selectFrom("deposit").selectAll().where("intent_id", "=", intent.id).execute();
    assert.equal(deposits.length, 2);
    assert.ok(deposits.some(({ chain_tx }) => chain_tx === first));
  });

  test("a payment whose result no node has kept is a row, and recorded once one has it", async () => {
    const intent = await road.create();
    road.pay(intent, UNITS);
    const second = road.pay(intent, 2n * UNITS);
    road.solana.control.loseResult(second);
    await road.until(async () => (await road.intent(intent)).counted_units === UNITS);
    await untilRow();
    const [row] = await rows();
    assert.deepEqual([row?.subject, row?.reason, row?.inboxes], [second, "no recorded result", [intent.inbox_address]]);
    road.solana.control.loseResult(second, false);
    await retry();
    await road.until(async () => (await road.intent(intent)).counted_units === 3n * UNITS);
    assert.deepEqual(await rows(), []);
  });

  test("blocks whose times no node has kept are read, and their payments count by the chain's own finality", async () => {
    const intent = await road.create();
    road.solana.control.loseTimes();
    try {
      road.pay(intent, UNITS);
      await road.until(async () => (await road.intent(intent)).counted_units === UNITS);
      const untimed = await road.db.root
        .selectFrom("block")
        .select("number")
        .where("timestamp_s", "is", null)
        .execute();
      assert.ok(untimed.length > 0);
    } finally {
      road.solana.control.loseTimes(false);
    }
  });

  test("what one provider refuses is read from the other, and no row says otherwise", async () => {
    const [first] = proxies;
    for (const proxy of proxies) if (proxy !== first) proxy.fault = undefined;
    const intent = await road.create();
    later.add(road.pay(intent, UNITS));
    road.solana.control.send([stranger], [buildSettle([inboxOf(intent)])]);
    await road.until(async () => (await road.intent(intent)).counted_units === UNITS);
    assert.deepEqual(await rows(), []);
  });

  test("what a sweep seems to have left is not settled while a row names its inbox, and new deposits are", async () => {
    const intent = await road.create();
    const settlements = async () =>
      (await road.settlements(intent)).map(({ status, gross_units: gross }) => ({ status, gross }));
    const landed = (gross: bigint) => ({ status: "landed", gross });
    road.pay(intent, UNITS);
    road.solana.control.nextSlot();
    // All of it leaves in a transaction that nobody reads.
    later.add(road.solana.control.send([stranger], [buildSettle([inboxOf(intent)])]));
    const isNamed = async () => (await rows()).some(({ inboxes }) => inboxes.includes(intent.inbox_address));
    await road.until(async () => (await road.intent(intent)).counted_units === UNITS && (await isNamed()));
    road.pay(intent, USDC);
    await road.until(async () => (await settlements()).some(({ status }) => status === "landed"));
    assert.deepEqual(await settlements(), [landed(USDC)]);
    for (let rounds = 0; rounds < 20; rounds += 1) {
      await road.tick();
      road.solana.control.nextSlot();
      road.advance(2_000);
    }
    assert.deepEqual(await settlements(), [landed(USDC)], "the difference is no money");
    later.clear();
    await retry();
    await road.until(async () => (await settlements()).length > 1);
    assert.deepEqual(await settlements(), [landed(USDC), landed(UNITS)]);
    assert.deepEqual(await rows(), []);
  });

  test("one in a dropped slot leaves no row behind", async () => {
    later.add(name(LOCAL_INBOX_PROGRAM));
    road.solana.control.nextSlot(2);
    await untilRow();
    road.solana.control.fork(4);
    later.clear();
    for (let rounds = 0; rounds < 8; rounds += 1) {
      await road.tick();
      road.solana.control.nextSlot();
    }
    await retry();
    assert.deepEqual(await rows(), []);
  });
});
