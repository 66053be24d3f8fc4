import { equal, ok } from "node:assert/strict";
import { after, before, test } from "node:test";
import { concatHex, numberToHex } from "viem";
import { startTestChain, type TestChain } from "../../../../test/support/chain.ts";
import { openTestChain } from "../../../../test/support/watcher.ts";

const ORACLE = "0x420000000000000000000000000000000000000f";
const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
/** Answers every call with this word, and two words of zeros behind it. */
const answering = (word: bigint) => concatHex(["0x7f", numberToHex(word, { size: 32 }), "0x5f5260605ff3"]);
/** Answers getL1Fee only, as chains before the operator's fee do. */
const L1_FEE_SELECTOR = "0x49948e0e";
const answeringOnlyL1Fee = (word: bigint) =>
  concatHex(["0x5f3560e01c63", L1_FEE_SELECTOR, "0x14601157", "0x5f5ffd", "0x5b", answering(word)]);

let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain.stop());

const fee = () => openTestChain(chain).sender.settlementFee();

test("a chain without a rollup's contracts takes nothing but gas", async () => {
  ok((await fee()) > 0n);
});

test("on the OP Stack the fee contains the layer 1 data and the operator's part", async () => {
  const before = await fee();
  await chain.client.setCode({ address: ORACLE, bytecode: answering(7_000_000_000_000n) });
  equal((await fee()) - before, 14_000_000_000_000n);
  await chain.client.setCode({ address: ORACLE, bytecode: answeringOnlyL1Fee(7_000_000_000_000n) });
  equal((await fee()) - before, 7_000_000_000_000n);
  await chain.client.setCode({ address: ORACLE, bytecode: "0x5f5ffd" });
  equal(await fee(), before, "a contract that refuses is no oracle");
  await chain.client.setCode({ address: ORACLE, bytecode: "0x" });
});

test("on Arbitrum the fee contains the gas for the layer 1 data", async () => {
  const before = await fee();
  await chain.client.setCode({ address: NODE_INTERFACE, bytecode: answering(150_000n) });
  // The same gas at the same price once more, where a first settlement's limit is known from the fee without it.
  const perGas = (await fee()) - before;
  ok(perGas > 0n && perGas % 150_000n === 0n, "the gas for the data at the price of the rest");
  await chain.client.setCode({ address: NODE_INTERFACE, bytecode: answering(300_000n) });
  equal((await fee()) - before, 2n * perGas);
});
