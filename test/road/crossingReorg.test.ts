import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { evmTerms } from "../../src/chain/evm/send/settleCall.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { toSettleItem } from "../../src/intent/pins/ownInbox.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";

const USDC = 1_000_000n;
const TRANSMITTER = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);

describe("reorganisations of the chain where a bridge took the money", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair());
  });
  after(() => road.close());

  const crossingOf = (intent: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", intent.id).executeTakeFirst();
  /** Drops the block of a transaction and those above it. */
  const dropFrom = async (hash: Hex) => {
    const { blockNumber } = await away.client.getTransactionReceipt({ hash });
    await away.rollback(Number((await away.client.getBlockNumber({ cacheTime: 0 })) - blockNumber) + 1);
  };

  test("a burn that is mined again with more money lands with all of it", async () => {
    const intent = await road.create(home);
    road.attestation.settings.seenAfterMs = Infinity;
    await road.pay(away, intent, 20n * USDC);
    await road.until(async () => (await crossingOf(intent))?.reason === "not_seen_by_bridge");
    const burnTx = (await crossingOf(intent))?.chain_tx as Hex;
    const signed = await away.signedOf(burnTx);
    await dropFrom(burnTx);
    await road.pay(away, intent, 5n * USDC);
    await away.sendSigned(signed);
    await away.mine(6);
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    await road.untilLanded(intent);
    assert.equal((await crossingOf(intent))?.units, 25n * USDC);
    assert.equal((await road.intent(intent)).settled_units, 25n * USDC);
  });

  const stateOf = async (intent: IntentRow) => {
    const { counted_units: counted, settled_units: settled } = await road.intent(intent);
    return [counted, settled, (await road.balances(home, intent)).inbox];
  };

  test("a payment that is gone after its fast crossing landed counts no more, and what the bridge gave stays paid", async () => {
    const intent = await road.create(home, { priceUnits: 20_000_000, oneTime: true });
    const paid = await road.pay(away, intent, 20n * USDC);
    await road.untilLanded(intent);
    await dropFrom(paid as Hex);
    await away.mine(20);
    await road.until(async () => (await road.intent(intent)).status === "active");
    assert.deepEqual(await stateOf(intent), [0n, 20n * USDC, 0n]);
  });

  test("a payment that is gone after its fast attestation is paid out, and not counted, once somebody receives it", async () => {
    const intent = await road.create(home);
    const before = await road.balances(home, intent);
    const paid = await road.pay(away, intent, 20n * USDC);
    await road.until(async () => (await crossingOf(intent))?.status === "attested", { isReceiving: false });
    const { message, attestation } = (await crossingOf(intent)) ?? {};
    await dropFrom(paid as Hex);
    await away.mine(20);
    await road.until(async () => (await crossingOf(intent)) === undefined);
    const { bridge } = road.sides[0] ?? assert.fail();
    const receive = encodeFunctionData({ abi: TRANSMITTER, args: [message as Hex, attestation as Hex] });
    await home.send(DEV_ACCOUNTS.stranger, [{ to: bridge.transmitter, data: receive }]);
    await road.tick();
    road.advance(2 * 3_600_000);
    await road.until(async () => (await stateOf(intent))[2] === 0n);
    assert.equal((await stateOf(intent))[0], 0n);
    const { payout, fee } = await road.balances(home, intent);
    assert.equal(payout - before.payout + fee - before.fee, 20n * USDC - 2_600n);
  });

  test("a mint that comes behind its sweep at the same height is settled by the next one", async () => {
    const intent = await road.create(home);
    const crossings = () =>
      road.db.root
        .selectFrom("crossing")
        .selectAll()
        .where("intent_id", "=", intent.id)
        .orderBy("movement_id")
        .execute();
    for (const [index, units] of [20n * USDC, 10n * USDC].entries()) {
      await road.pay(away, intent, units);
      await road.until(async () => (await crossings())[index]?.status === "attested", { isReceiving: false });
    }
    const [first, second] = await crossings();
    const transmitter = (road.sides[0] ?? assert.fail()).bridge.transmitter as Hex;
    const receive = encodeFunctionData({
      abi: TRANSMITTER,
      args: [first?.message as Hex, first?.attestation as Hex],
    });
    const [receipt] = await home.sign(DEV_ACCOUNTS.stranger, [{ to: transmitter, data: receive }]);
    await home.sendSigned(receipt as Hex);
    const item = toSettleItem(intent, intent.payout_token);
    const settle = encodeFunctionData({
      abi: hubAbi,
      functionName: "receiveAndSettle",
      args: [transmitter, second?.message as Hex, second?.attestation as Hex, evmTerms(item)],
    });
    const [sweep] = await home.sign(DEV_ACCOUNTS.payer, [{ to: item.hub as Hex, data: settle }]);
    const { transactionHash: sweepTx, blockNumber } = await home.sendSigned(sweep as Hex);
    const settlements = () => road.settlements(intent);
    await road.until(async () => (await settlements()).every(({ status }) => status === "landed"), {
      isReceiving: false,
    });
    const head = await home.client.getBlockNumber({ cacheTime: 0 });
    // The stranger's receipt is dropped too, and comes behind the sweep.
    const before = 5n;
    await home.reorg(Number(head - blockNumber + before), [{ signed: sweep as Hex, blockIndex: Number(before) - 1 }]);
    assert.equal((await home.client.getTransactionReceipt({ hash: sweepTx })).blockNumber, blockNumber);
    await home.sendSigned(receipt as Hex);
    await home.mine(2);
    await road.until(async () => (await road.balances(home, intent)).inbox === 0n);
    await road.untilLanded(intent);
    assert.deepEqual(await stateOf(intent), [30n * USDC, 30n * USDC, 0n]);
    const paidBy = (await settlements()).map(({ landed_chain_tx }) => landed_chain_tx);
    assert.deepEqual(
      paidBy.map((tx) => tx === sweepTx),
      [false, true],
    );
  });
});
