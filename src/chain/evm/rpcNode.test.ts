import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { keccak256, parseTransaction, recoverTransactionAddress, type TransactionSerializedEIP1559 } from "viem";
import { DEV_ACCOUNTS } from "../../dev/devAccounts.ts";
import { transferCall } from "../../dev/chains/tokens.ts";
import { startTestChain, type TestChain } from "../../../test/support/chain.ts";
import { ProviderFailed } from "../reader.ts";
import { CallReverted } from "./node.ts";
import { bundledBalanceCall, parseBundledBalances } from "./bundledBalances.ts";
import { openEvmNode, type JsonRpcNode } from "./rpcNode.ts";
import { limitFees } from "./send/fees.ts";
import { openGasAccount } from "./send/gasAccount.ts";

const OWNER = "0x00000000000000000000000000000000000f00d5";
const NOBODY = "0x00000000000000000000000000000000000f00d6";
const { payer, stranger, operator } = DEV_ACCOUNTS;

describe("JsonRpcNode", () => {
  let chain: TestChain;
  let node: JsonRpcNode;

  before(async () => {
    chain = await startTestChain();
    node = openEvmNode({ caip2: chain.caip2, rpcUrl: chain.rpcUrl });
  });
  after(async () => {
    await node.close();
    await chain.stop();
  });

  test("identifies its chain", async () => {
    const genesis = await chain.client.getBlock({ blockNumber: 0n });
    deepEqual(await node.identify(), { caip2: chain.caip2, genesisHash: genesis.hash });
    equal(node.name, new URL(chain.rpcUrl).host);
  });

  test("returns blocks by tag, number and hash, and undefined without one", async () => {
    await chain.mine(3);
    const head = await node.head("latest");
    const finalized = await node.head("finalized");
    equal(finalized.number, head.number - 2n);
    deepEqual(await node.block({ number: head.number }), head);
    deepEqual(await node.block({ hash: head.hash }), head);
    equal((await node.block({ number: head.number - 1n }))?.hash, head.parentHash);
    equal(await node.block({ number: head.number + 1n }), undefined);
    equal(await node.block({ hash: `0x${"11".repeat(32)}` }), undefined);
  });

  test("returns the transfers of a block or a range, of the requested tokens", async () => {
    const paid = await chain.pay(chain.usdc.address, OWNER, { amountUnits: 7n });
    const other = await chain.pay(chain.dusd.address, OWNER, { amountUnits: 8n });
    const tokens = [chain.usdc.address, chain.dusd.address];
    const [transfer] = await node.transfers({ blockHash: paid.blockHash, blockNumber: paid.blockNumber }, tokens);
    deepEqual(
      { ...transfer, amountText: BigInt(transfer?.amountText ?? 0) },
      {
        token: chain.usdc.address,
        from: payer.address,
        to: OWNER,
        amountText: 7n,
        chainTx: paid.transactionHash,
        place: 0n,
        blockNumber: paid.blockNumber,
        blockHash: paid.blockHash,
      },
    );
    const range = { fromBlock: paid.blockNumber, toBlock: other.blockNumber };
    equal((await node.transfers(range, tokens)).length, 2);
    equal((await node.transfers(range, [chain.dusd.address])).length, 1);
    equal((await node.transfers(range, [])).length, 0);
    equal((await node.transfers(range, tokens, [OWNER, payer.address])).length, 2, "none of them twice");
    equal((await node.transfers(range, tokens, [NOBODY])).length, 0);
  });

  test("throws for the transfers of an unknown block", async () => {
    await rejects(
      node.transfers({ blockHash: `0x${"11".repeat(32)}`, blockNumber: 1n }, [chain.usdc.address]),
      (error) => error instanceof ProviderFailed && error.kind === "unknown_block",
    );
  });

  test("proves mined transactions, and identifies transfers by their position inside the receipt", async () => {
    const [first, second] = await chain.payInOneBlock([
      { token: chain.usdc.address, to: OWNER, amountUnits: 1n },
      { token: chain.usdc.address, to: OWNER, amountUnits: 2n },
    ]);
    const hashes = [second?.transactionHash ?? "", `0x${"22".repeat(32)}`, first?.transactionHash ?? ""];
    deepEqual(
      (await node.proofs(hashes)).map(({ chainTx, identityAt, succeeded, blockNumber }) => [
        chainTx,
        [identityAt(0n), identityAt(1n), identityAt(2n)],
        succeeded,
        blockNumber,
      ]),
      [
        [hashes[0], [undefined, "0", undefined], true, first?.blockNumber],
        [hashes[2], ["0", undefined, undefined], true, first?.blockNumber],
      ],
    );
    deepEqual(await node.proofs([]), []);
  });

  test("returns balances at a block, in the order of any number of owners", async () => {
    const owners = Array.from({ length: 250 }, (_, index) => `0x${(0xabc000 + index).toString(16).padStart(40, "0")}`);
    const target = owners[201] as `0x${string}`;
    const { blockNumber } = await chain.pay(chain.usdc.address, target, { amountUnits: 11n });
    const balances = await node.balances(chain.usdc.address, owners, { blockNumber });
    deepEqual([balances.length, balances[201], balances[200]], [250, 11n, 0n]);
    const before = await node.balances(chain.usdc.address, [target], { blockNumber: blockNumber - 1n });
    deepEqual(before, [0n]);
    const bundled = owners.slice(100);
    const { data } = await chain.client.call({ data: bundledBalanceCall(chain.usdc.address, bundled) });
    deepEqual(parseBundledBalances(data, 150), balances.slice(100), "one call returns them all");
    await rejects(chain.client.call({ data: bundledBalanceCall(NOBODY, bundled) }), "no contract, no balances");
  });

  test("returns decimals, code, receipts and simulated calls", async () => {
    equal(await node.tokenDecimals(chain.dusd.address), 18);
    equal(await node.hasCode(chain.usdc.address), true);
    equal(await node.hasCode(NOBODY), false);
    const { data = "0x" } = transferCall(chain.usdc.address, OWNER, 1n);
    const call = { from: payer.address, to: chain.usdc.address, data };
    ok((await node.estimateGas(call)) > 30_000n);
    equal(BigInt(await node.call(call)), 1n);
    const poor = { ...call, from: NOBODY };
    await rejects(node.call(poor), CallReverted);
    await rejects(node.estimateGas(poor), CallReverted);
    const [reverted] = await chain.send(stranger, [transferCall(chain.usdc.address, OWNER, 10n ** 20n)]);
    const receipt = await node.receipt(reverted?.transactionHash ?? "");
    equal(receipt?.succeeded, false);
    equal(receipt?.blockHash, reverted?.blockHash);
    equal(await node.receipt(`0x${"22".repeat(32)}`), undefined);
  });

  test("classifies broadcast outcomes", async () => {
    const account = openGasAccount(operator.privateKey);
    const quote = await node.fees();
    const { baseFeePerGas } = await chain.client.getBlock({ blockTag: "pending" });
    equal(quote.baseFeePerGas, baseFeePerGas);
    const fees = limitFees(quote, 10n ** 12n);
    const nonce = await node.nonce(account.address);
    const plan = { chainId: chain.chainId, nonce, to: NOBODY, data: "0x", gasLimit: 21_000n, ...fees };
    const first = await account.sign(plan);
    await chain.client.setAutomine(false);
    deepEqual(await node.submit(first.raw), { kind: "accepted" });
    deepEqual(await node.submit(first.raw), { kind: "known" });
    const cheaper = await account.sign({ ...plan, maxPriorityFeePerGas: 1n, maxFeePerGas: fees.maxFeePerGas - 1n });
    deepEqual(await node.submit(cheaper.raw), { kind: "underpriced" });
    await chain.mine(1);
    await chain.client.setAutomine(true);
    equal((await node.receipt(first.chainTx))?.succeeded, true);
    equal(await node.nonce(account.address), nonce + 1n);
    deepEqual(await node.submit(cheaper.raw), { kind: "nonce_used" });
    const poor = openGasAccount(`0x${"77".repeat(32)}`);
    deepEqual(await node.submit((await poor.sign({ ...plan, nonce: 0n })).raw), { kind: "no_funds" });
    equal(await node.nativeBalance(poor.address), 0n);
  });

  test("a gas account signs exactly the given transaction, and shows no key", async () => {
    const account = openGasAccount(operator.privateKey);
    const plan = {
      chainId: 8453,
      nonce: 3n,
      to: OWNER,
      data: "0xabcd",
      gasLimit: 50_000n,
      maxFeePerGas: 9n,
      maxPriorityFeePerGas: 2n,
    };
    const { raw, chainTx } = await account.sign(plan);
    const serialized = raw as TransactionSerializedEIP1559;
    equal(chainTx, keccak256(serialized));
    equal((await recoverTransactionAddress({ serializedTransaction: serialized })).toLowerCase(), operator.address);
    const { chainId, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(serialized);
    deepEqual(
      { chainId, nonce: BigInt(nonce ?? 0), to, data, gasLimit: gas, maxFeePerGas, maxPriorityFeePerGas },
      plan,
    );
    ok(!JSON.stringify(account).includes(operator.privateKey.slice(2)));
  });
});
