import assert from "node:assert/strict";
import { before, test } from "node:test";
import { measureGas, readGasSnapshot } from "../scripts/gas.ts";
import { ISSUER_GAS, ISSUER_GAS_PARTS_MAX } from "../scripts/gasBridge.ts";
import type { GasFigures } from "../scripts/gas.ts";

const batchSize = 100;
/** EIP-7825. */
const transactionGasMax = 16_777_216;

let gas: GasFigures;

before(async () => {
  gas = await measureGas();
});

test("the checked-in gas figures match the measured ones", async () => {
  assert.deepEqual(gas, await readGasSnapshot(), "run node contracts/scripts/gas.ts, and look at what changed");
});

test("settling one inbox stays near the gas floor", () => {
  assertRatio(gas.settleFirst, gas.floor, 2.05);
  assertRatio(gas.settleRepeat, gas.floor, 1.25);
  assert.ok(gas.settleRepeat < gas.walletRepeat, "an inbox with a key of its own would be cheaper");
});

test("a netted batch stays near two hundred transfers in one transaction", () => {
  assertRatio(gas.nettedFirst, gas.batchFloor, 5.25);
  assertRatio(gas.nettedRepeat, gas.batchFloor, 1.4);
  assert.ok(gas.nettedRepeat <= 14_100, `${gas.nettedRepeat}`);
  assert.ok(gas.nettedFirst < gas.manyFirst && gas.nettedRepeat < gas.manyRepeat, "netting saves nothing");
});

test("empty inboxes in a batch cost under 8,000 gas, and a hundred new inboxes fit into a transaction", () => {
  assert.ok(gas.manyEmpty < 8_000 && gas.nettedEmpty < 8_000);
  assert.ok(gas.manyFirst * batchSize < transactionGasMax);
});

test("giving to a bridge and receiving from it cost no more than with the issuer's own contracts", () => {
  for (const call of Object.keys(ISSUER_GAS) as (keyof typeof ISSUER_GAS)[])
    assertRatio(gas[call], ISSUER_GAS[call], ISSUER_GAS_PARTS_MAX);
  // Doubles of the issuer's contracts: the hub's part of a receipt depends on neither.
  for (const [receive, relay] of [
    [gas.receiveStandardRepeat, gas.relayStandard],
    [gas.receiveFastRepeat, gas.relayFast],
  ] as const)
    assert.ok(
      receive - relay < gas.settleRepeat,
      `${receive - relay} beside the receipt, a settlement costs ${gas.settleRepeat}`,
    );
});

function assertRatio(used: number, floor: number, ratioMax: number): void {
  const ratio = used / floor;
  assert.ok(ratio <= ratioMax, `${used} is ${ratio.toFixed(3)} times the floor of ${floor}`);
}
