import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import type { RouteSpeed } from "../../src/catalog/routes.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { verifyWithProvider } from "../../src/watch/providers/verifyWithProvider.ts";
import { bridgeCall } from "../support/bridgeCall.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { callInOneTransaction, nextContract, transferCall, type InnerCall } from "../support/oneTransaction.ts";

// Anybody can bridge an inbox, pay it again and bridge it again within one transaction. Each burn arrives for itself.

const USDC = 1_000_000n;
const { stranger, payer } = DEV_ACCOUNTS;

describe("two burns of an inbox in one transaction", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair({ hasDusd: true }));
  });
  after(() => road.close());

  const transfer = (to: string, units: bigint) => transferCall(away.usdc.address, to, units);
  const bridged = (intent: IntentRow, speed: RouteSpeed) => bridgeCall(road, away, { intent, speed });

  /** Pays 20 USDC, bridges them fast, pays 7 USDC and bridges these by the standard route. */
  async function burnTwice(intent: IntentRow): Promise<void> {
    await road.pay(away, intent, 20n * USDC);
    const contract = await nextContract(away, stranger);
    await away.pay(away.usdc.address, contract, { amountUnits: 7n * USDC, from: payer });
    await callInOneTransaction(away, stranger, [
      await bridged(intent, "fast"),
      transfer(intent.inbox_address, 7n * USDC),
      await bridged(intent, "standard"),
    ]);
  }

  const amountsOf = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits } = settlementRecord(row);
      return [status, ...[grossUnits, routeCostUnits, feeUnits, netUnits].map(Number)];
    });
  const crossingsOf = ({ id }: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", id).orderBy("movement_id").execute();

  const BOTH_LANDED = [
    ["landed", 20_000_000, 2_600, 99_987, 19_897_413],
    ["landed", 7_000_000, 0, 35_000, 6_965_000],
  ];

  test("each is a settlement of its own, and lands with its own amount and cost", async () => {
    const intent = await road.create(home);
    const before = await road.balances(home, intent);
    await burnTwice(intent);
    await road.untilLanded(intent, 2);
    assert.deepEqual(await amountsOf(intent), BOTH_LANDED);
    const { payout, fee, inbox } = await road.balances(home, intent);
    assert.deepEqual([payout - before.payout, fee - before.fee, inbox], [26_862_413n, 134_987n, 0n]);
    const { counted_units: counted, settled_units: settled } = await road.intent(intent);
    assert.deepEqual([counted, settled], [27n * USDC, 27n * USDC]);
  });

  test("both land when one transaction receives and settles one after the other", async () => {
    const intent = await road.create(home);
    await burnTwice(intent);
    const isProven = async () => (await crossingsOf(intent)).filter(({ status }) => status === "attested").length === 2;
    await road.until(isProven, { isReceiving: false });
    const [side] = road.sides;
    assert.ok(side);
    const crossings = await crossingsOf(intent);
    const calls = crossings.map(({ message, attestation }): InnerCall => {
      const args = [side.bridge.transmitter, message as Hex, attestation as Hex, toInboxTerms(intent)] as const;
      return { to: home.hub, data: encodeFunctionData({ abi: hubAbi, functionName: "receiveAndSettle", args }) };
    });
    await callInOneTransaction(home, stranger, calls.toReversed());
    await road.untilLanded(intent, 2);
    assert.deepEqual(await amountsOf(intent), BOTH_LANDED);
    const landedIn = new Set((await road.settlements(intent)).map(({ landed_chain_tx: chainTx }) => chainTx));
    assert.equal(landedIn.size, 1);
  });

  const TRANSMITTER = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);

  for (const coin of ["dusd", "usdc"] as const)
    test(`a payment of as many units in ${coin} before the receipt leaves what the bridge gave no payment`, async () => {
      const intent = await road.create(home);
      await road.pay(away, intent, 20n * USDC);
      const proven = async () => (await crossingsOf(intent)).find(({ status }) => status === "attested");
      await road.until(async () => (await proven()) !== undefined, { isReceiving: false });
      const { message, attestation } = (await proven()) ?? {};
      const [side] = road.sides;
      assert.ok(side);
      const units = 20n * USDC - 2_600n;
      const contract = await nextContract(home, stranger);
      await home.pay(home[coin].address, contract, { amountUnits: units, from: payer });
      const data = encodeFunctionData({ abi: TRANSMITTER, args: [message as Hex, attestation as Hex] });
      await callInOneTransaction(home, stranger, [
        transferCall(home[coin].address, intent.inbox_address, units),
        { to: side.bridge.transmitter, data },
      ]);
      await road.untilLanded(intent, coin === "dusd" ? 1 : 2);
      await road.tick();
      const { counted_units: counted } = await road.intent(intent);
      assert.equal(counted, coin === "dusd" ? 20n * USDC : 20n * USDC + units);
    });

  test("a second provider does not confirm as a payment what a bridge gave", async () => {
    const intent = await road.create(home);
    await road.pay(away, intent, 20n * USDC);
    await road.untilLanded(intent);
    const mint = await road.db.root
      .selectFrom("movement")
      .selectAll()
      .where("intent_id", "=", intent.id)
      .where("chain", "=", home.caip2)
      .where("direction", "=", "in")
      .executeTakeFirstOrThrow();
    const [reader] = road.world.chains.get(home.caip2)?.readers ?? [];
    assert.ok(reader);
    assert.equal((await verifyWithProvider(road.world, reader, { movement: mint })).verdict, "confirms");
    // As it is recorded where a provider leaves the last log out of the receipt.
    const { verdict, reason } = await verifyWithProvider(road.world, reader, {
      movement: { ...mint, explained_by: null },
    });
    assert.deepEqual([verdict, reason], ["denies", "bridged"]);
  });
});
