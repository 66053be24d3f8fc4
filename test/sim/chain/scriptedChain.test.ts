import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { settleItemGas } from "@tributary/inbox/hubs";
import type { Terms } from "@tributary/inbox/terms";
import { encodeFunctionData, type Hex } from "viem";
import { CallReverted } from "../../../src/chain/evm/node.ts";
import { limitFees } from "../../../src/chain/evm/send/fees.ts";
import { openGasAccount } from "../../../src/chain/evm/send/gasAccount.ts";
import { decodeFailures } from "../../../src/chain/evm/send/settleCall.ts";
import { openScriptedNode } from "./scriptedNode.ts";
import { ScriptedChain } from "./scriptedChain.ts";
import { tokenCalls, type TokenKind } from "./token.ts";

const OWNER = `0x${"0e".repeat(20)}`;
const PAYER = `0x${"0a".repeat(20)}`;
const USDC: `0x${string}` = `0x${"c0".repeat(20)}`;
const PAYOUT = `0x${"0b".repeat(20)}` as const;
const FEE = `0x${"0f".repeat(20)}` as const;
const account = openGasAccount(`0x${"11".repeat(32)}`);

function open(kind: TokenKind = "plain") {
  const chain = new ScriptedChain({
    chainId: 31_337,
    tokens: [{ address: USDC, symbol: "USDC", decimals: 6, kind, owner: OWNER }],
    units: [{ token: USDC, owner: PAYER, units: 1_000_000n }],
    wei: [{ address: account.address, wei: 10n ** 20n }],
  });
  return { chain, node: openScriptedNode(chain) };
}

function termsOf(salt: number, payout: `0x${string}` = PAYOUT): Terms {
  return {
    salt: `0x${salt.toString(16).padStart(64, "0")}`,
    settleChainId: 31_337n,
    settleToken: USDC,
    payout,
    feeRecipient: FEE,
    feeBps: 50,
    recovery: PAYOUT,
    recoverAfter: 1_900_000_000,
    routesRoot: `0x${"0".repeat(64)}`,
  };
}

test("a batch settles each inbox that can settle, and leaves the others unchanged", async () => {
  const { chain, node } = open();
  const blocked: `0x${string}` = `0x${"bb".repeat(20)}`;
  const items = [termsOf(1), termsOf(2, blocked), termsOf(3)];
  chain.pay({ token: USDC, from: PAYER, to: computeInboxAddress(termsOf(1)), units: 1_999n });
  chain.pay({ token: USDC, from: PAYER, to: computeInboxAddress(termsOf(2, blocked)), units: 5n });
  chain.send({ from: OWNER, calls: [{ to: USDC, data: tokenCalls.block(blocked) }] });
  chain.mine();
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [items, settleItemGas] });
  const fees = limitFees(await node.fees(), 10n ** 12n);
  const gasLimit = (await node.estimateGas({ from: account.address, to: hubAddress, data })) * 2n;
  const signed = await account.sign({ chainId: 31_337, nonce: 0n, to: hubAddress, data, gasLimit, ...fees });
  deepEqual(await node.submit(signed.raw), { kind: "accepted" });
  deepEqual(await node.submit(signed.raw), { kind: "known" });
  chain.mine();
  equal((await node.receipt(signed.chainTx))?.succeeded, true);
  deepEqual(await node.submit(signed.raw), { kind: "nonce_used" });
  deepEqual([chain.unitsOf(USDC, PAYOUT), chain.unitsOf(USDC, FEE)], [1_990n, 9n]);
  equal(chain.unitsOf(USDC, computeInboxAddress(termsOf(2, blocked))), 5n);
});

test("with a blocked fee wallet a batch reverts below its estimate, and settles at it", async () => {
  const { chain, node } = open();
  const items = [termsOf(1), termsOf(2)];
  for (const terms of items) chain.pay({ token: USDC, from: PAYER, to: computeInboxAddress(terms), units: 1_999n });
  chain.send({ from: OWNER, calls: [{ to: USDC, data: tokenCalls.block(FEE) }] });
  chain.mine();
  const call = { from: account.address, to: hubAddress, data: settleManyCall(items) };
  const enough = await node.estimateGas(call);
  await rejects(node.call({ ...call, gas: enough - 300_000n }), CallReverted);
  deepEqual(decodeFailures(await node.call({ ...call, gas: enough })), [undefined, undefined]);
  const fees = limitFees(await node.fees(), 10n ** 12n);
  const { to, data } = call;
  const signed = await account.sign({ chainId: 31_337, nonce: 0n, to, data, gasLimit: enough, ...fees });
  await node.submit(signed.raw);
  chain.mine();
  equal(chain.unitsOf(USDC, PAYOUT), 2n * 1_999n);
});

function settleManyCall(items: readonly Terms[]): Hex {
  return encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [items, settleItemGas] });
}

test("a reorg reverts a branch's changes, and its transactions are mined again", async () => {
  const { chain, node } = open();
  const first = chain.pay({ token: USDC, from: PAYER, to: PAYOUT, units: 7n });
  const old = chain.mine();
  chain.mine();
  const madeBefore = chain.blockCount;
  chain.reorg(2, { isLost: ({ chainTx }) => chainTx === first });
  equal(chain.unitsOf(USDC, PAYOUT), 0n);
  equal((await node.head("latest")).number, 3n);
  equal(await node.receipt(first), undefined);
  const behind = openScriptedNode(chain, { knownBlockCount: () => madeBefore });
  equal((await behind.head("latest")).number, 2n);
  equal(
    (await behind.receipt(first))?.blockHash,
    old.hash,
    "a node that lacks the new blocks still shows the old branch",
  );
  const [balance] = await behind.balances(USDC, [PAYER], { blockNumber: 0n });
  equal(balance, 1_000_000n);
});

for (const kind of ["plain", "silent", "false", "taxed"] as const) {
  test(`a token that is ${kind} pays out, and a refused transfer leaves no log`, () => {
    const { chain } = open(kind);
    const paid = chain.pay({ token: USDC, from: PAYER, to: computeInboxAddress(termsOf(9)), units: 10_000n });
    const refused = chain.pay({ token: USDC, from: PAYOUT, to: PAYER, units: 1n });
    const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [termsOf(9)] });
    chain.mine();
    chain.send({ from: PAYER, calls: [{ to: hubAddress, data }] });
    chain.mine();
    equal(chain.receiptsOf(paid)[0]?.logs.length, kind === "taxed" ? 2 : 1);
    equal(chain.receiptsOf(refused)[0]?.logs.length, 0);
    equal(chain.receiptsOf(refused)[0]?.succeeded, kind === "false");
    ok(chain.unitsOf(USDC, PAYOUT) >= 9_700n);
    equal(chain.unitsOf(USDC, computeInboxAddress(termsOf(9))), 0n);
  });
}
