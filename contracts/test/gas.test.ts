import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { concat, encodeFunctionData, keccak256, numberToHex, size } from "viem";
import type { Hex } from "viem";
import { inboxAddress } from "@tributary/inbox/address";
import { hubAddress, hubSalt } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import type { Terms } from "@tributary/inbox/terms";
import { DEV_ACCOUNTS } from "../../src/cli/dev/accounts.ts";
import { transferCall } from "../../src/cli/dev/tokens.ts";
import { startTestChain } from "../../test/support/chain.ts";
import type { TestChain } from "../../test/support/chain.ts";

// Gas of real transactions on Circle's own token, compared with what nobody can avoid: one transaction with two transfers
// of the token to accounts that hold some already.

const depositUnits = 100_000_000n;
const batchSize = 100;
/** EIP-7825. */
const transactionGasMax = 16_777_216n;
const payout: Hex = "0x9a7cc3f9f2ad4ae3e7ba53f51a2a6bd5f41f8c01";
const feeRecipient: Hex = "0x9a7cc3f9f2ad4ae3e7ba53f51a2a6bd5f41f8c02";

let chain: TestChain;
let floorGas: bigint;

before(async () => {
  chain = await startTestChain({ hub: { creationCode: hubCreationCode, salt: hubSalt } });
  await pay(payout);
  await pay(feeRecipient);
  // The first transfer as everybody sends it, and what a second one adds where both leave in one transaction.
  floorGas = (await pay(payout)) + (await forward([payout, feeRecipient])) - (await forward([payout]));
});

after(async () => {
  await chain.stop();
});

test("settling one inbox", async (t) => {
  const [terms] = termsOf("one", 1);
  assert.ok(terms !== undefined);
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [terms] });
  t.diagnostic(`floor ${floorGas}`);
  for (const [name, ratioMax] of [
    ["first", 1.95],
    ["repeat", 1.2],
  ] as const) {
    await pay(inboxAddress(terms));
    const used = await send(data);
    const ratio = Number(used) / Number(floorGas);
    t.diagnostic(`${name} ${used} = ${ratio.toFixed(3)} × floor`);
    assert.ok(ratio <= ratioMax, `${name} settle uses ${used}, ${ratio.toFixed(3)} × the floor`);
  }
});

test("settling a hundred inboxes at once", async (t) => {
  const many = termsOf("many", batchSize);
  const netted = termsOf("netted", batchSize);
  const [shared] = netted;
  assert.ok(shared !== undefined);
  for (const name of ["first", "repeat"]) {
    for (const terms of [...many, ...netted]) await pay(inboxAddress(terms));
    const manyGas = await send(encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [many] }));
    const salts = netted.map(({ salt }) => salt);
    const nettedGas = await send(
      encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args: [shared, salts] }),
    );
    t.diagnostic(`${name}: many ${manyGas / 100n}, netted ${nettedGas / 100n} each`);
    assert.ok(nettedGas < manyGas, "netting saves nothing");
    assert.ok(manyGas < transactionGasMax, "a batch of a hundred does not fit into a transaction");
  }
});

function termsOf(name: string, count: number): Terms[] {
  return Array.from({ length: count }, (_, index) => ({
    salt: keccak256(`0x${Buffer.from(`${name} ${index}`).toString("hex")}`),
    settleChainId: BigInt(chain.chainId),
    settleToken: chain.usdc.address,
    payout,
    feeRecipient,
    feeBps: 50,
    recovery: payout,
    recoverAfter: 1_800_000_000,
    routesRoot: numberToHex(0, { size: 32 }),
  }));
}

/** Gas of one transfer of the usual deposit. */
async function pay(to: Hex): Promise<bigint> {
  const receipts = await chain.send(DEV_ACCOUNTS.payer, [transferCall(chain.usdc.address, to, depositUnits)]);
  return succeeded(receipts[0]);
}

/** Gas of one transaction in which a contract passes one transfer to each of the receivers and keeps the rest. */
async function forward(receivers: readonly Hex[]): Promise<bigint> {
  const { address: token } = chain.usdc;
  const transfers = receivers.map((to) => transferCall(token, to, depositUnits).data ?? "0x");
  const sizes = transfers.map(size);
  // Copies its calldata into memory, then calls the token with one part after the other.
  const runtime = concat([
    "0x365f5f37",
    ...sizes.map((bytes, index) =>
      concat(["0x5f5f60", toByte(bytes), "0x60", toByte(bytes * index), "0x5f73", token, "0x5af150"]),
    ),
  ]);
  const creation = concat(["0x60", toByte(size(runtime)), "0x8060095f395ff3", runtime]);
  const [created] = await chain.send(DEV_ACCOUNTS.payer, [{ data: creation }]);
  const to = created?.contractAddress;
  assert.ok(to);
  for (let count = 0; count <= receivers.length; count += 1) await pay(to);
  const before = await chain.balanceOf(token, payout);
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to, data: concat(transfers) }]);
  assert.equal(await chain.balanceOf(token, payout), before + depositUnits);
  return succeeded(receipt);
}

function toByte(value: number): Hex {
  return numberToHex(value, { size: 1 });
}

async function send(data: Hex): Promise<bigint> {
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to: hubAddress, data, gasLimit: 16_000_000n }]);
  return succeeded(receipt);
}

function succeeded(receipt: { status: string; gasUsed: bigint } | undefined): bigint {
  assert.equal(receipt?.status, "success");
  return receipt.gasUsed;
}
