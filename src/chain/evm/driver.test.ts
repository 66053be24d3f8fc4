import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { keccak256, parseTransaction, recoverTransactionAddress, type TransactionSerializedEIP1559 } from "viem";
import { DEV_ACCOUNTS } from "../../dev/devAccounts.ts";
import { transferCall } from "../../dev/chains/tokens.ts";
import { startTestChain, type TestChain } from "../../../test/support/chain.ts";
import { CallReverted, ProviderFailed } from "../driver.ts";
import { openEvmDriver, type EvmDriver } from "./driver.ts";
import { openGasAccount } from "./send/gasAccount.ts";

const OWNER = "0x00000000000000000000000000000000000f00d5";
const NOBODY = "0x00000000000000000000000000000000000f00d6";
const { payer, stranger, operator } = DEV_ACCOUNTS;

describe("a provider of an EVM chain", () => {
  let chain: TestChain;
  let driver: EvmDriver;

  before(async () => {
    chain = await startTestChain();
    driver = openEvmDriver({ caip2: chain.caip2, rpcUrl: chain.rpcUrl });
  });
  after(async () => {
    await driver.close();
    await chain.stop();
  });

  test("tells which chain it serves", async () => {
    const genesis = await chain.client.getBlock({ blockNumber: 0n });
    deepEqual(await driver.identify(), { caip2: chain.caip2, genesisHash: genesis.hash });
    equal(driver.name, new URL(chain.rpcUrl).host);
  });

  test("shows its blocks by tag, number and hash, and says when it has none", async () => {
    await chain.mine(3);
    const head = await driver.head("latest");
    const finalized = await driver.head("finalized");
    equal(finalized.number, head.number - 2n);
    deepEqual(await driver.block({ number: head.number }), head);
    deepEqual(await driver.block({ hash: head.hash }), head);
    equal((await driver.block({ number: head.number - 1n }))?.hash, head.parentHash);
    equal(await driver.block({ number: head.number + 1n }), undefined);
    equal(await driver.block({ hash: `0x${"11".repeat(32)}` }), undefined);
  });

  test("hands over the transfers of a block or of a range, of the tokens asked for", async () => {
    const paid = await chain.pay(chain.usdc.address, OWNER, { amountUnits: 7n });
    const other = await chain.pay(chain.dusd.address, OWNER, { amountUnits: 8n });
    const tokens = [chain.usdc.address, chain.dusd.address];
    const [transfer] = await driver.transfers({ blockHash: paid.blockHash }, tokens);
    deepEqual(
      { ...transfer, amountText: BigInt(transfer?.amountText ?? 0) },
      {
        token: chain.usdc.address,
        from: payer.address,
        to: OWNER,
        amountText: 7n,
        chainTx: paid.transactionHash,
        logIndex: 0,
        blockNumber: paid.blockNumber,
        blockHash: paid.blockHash,
      },
    );
    const range = { fromBlock: paid.blockNumber, toBlock: other.blockNumber };
    equal((await driver.transfers(range, tokens)).length, 2);
    equal((await driver.transfers(range, [chain.dusd.address])).length, 1);
    equal((await driver.transfers(range, [])).length, 0);
    equal((await driver.transfers(range, tokens, [OWNER, payer.address])).length, 2, "none of them twice");
    equal((await driver.transfers(range, tokens, [NOBODY])).length, 0);
  });

  test("errs for the transfers of a block that it does not have, instead of answering none", async () => {
    await rejects(
      driver.transfers({ blockHash: `0x${"11".repeat(32)}` }, [chain.usdc.address]),
      (error) => error instanceof ProviderFailed && error.kind === "unknown_block",
    );
  });

  test("tells where a transaction's logs begin, of those that are mined", async () => {
    const [first, second] = await chain.payInOneBlock([
      { token: chain.usdc.address, to: OWNER, amountUnits: 1n },
      { token: chain.usdc.address, to: OWNER, amountUnits: 2n },
    ]);
    const hashes = [second?.transactionHash ?? "", `0x${"22".repeat(32)}`, first?.transactionHash ?? ""];
    deepEqual(
      (await driver.receiptPositions(hashes)).map(({ chainTx, logIndexFirst, succeeded }) => [
        chainTx,
        logIndexFirst,
        succeeded,
      ]),
      [
        [hashes[0], 1, true],
        [hashes[2], 0, true],
      ],
    );
    deepEqual(await driver.receiptPositions([]), []);
  });

  test("tells balances at a block, in the order of the owners, however many", async () => {
    const owners = Array.from({ length: 250 }, (_, index) => `0x${(0xabc000 + index).toString(16).padStart(40, "0")}`);
    const target = owners[201] as `0x${string}`;
    const { blockNumber } = await chain.pay(chain.usdc.address, target, { amountUnits: 11n });
    const balances = await driver.balances(chain.usdc.address, owners, { blockNumber });
    deepEqual([balances.length, balances[201], balances[200]], [250, 11n, 0n]);
    const before = await driver.balances(chain.usdc.address, [target], { blockNumber: blockNumber - 1n });
    deepEqual(before, [0n]);
  });

  test("knows decimals, code, receipts and what a call would do", async () => {
    equal(await driver.tokenDecimals(chain.dusd.address), 18);
    equal(await driver.hasCode(chain.usdc.address), true);
    equal(await driver.hasCode(NOBODY), false);
    const { data = "0x" } = transferCall(chain.usdc.address, OWNER, 1n);
    const call = { from: payer.address, to: chain.usdc.address, data };
    ok((await driver.estimateGas(call)) > 30_000n);
    equal(BigInt(await driver.call(call)), 1n);
    const poor = { ...call, from: NOBODY };
    await rejects(driver.call(poor), CallReverted);
    await rejects(driver.estimateGas(poor), CallReverted);
    const [reverted] = await chain.send(stranger, [transferCall(chain.usdc.address, OWNER, 10n ** 20n)]);
    const receipt = await driver.receipt(reverted?.transactionHash ?? "");
    equal(receipt?.succeeded, false);
    equal(receipt?.blockHash, reverted?.blockHash);
    equal(await driver.receipt(`0x${"22".repeat(32)}`), undefined);
  });

  test("tells what became of signed bytes", async () => {
    const account = openGasAccount(operator.privateKey);
    const fees = await driver.fees();
    const { baseFeePerGas } = await chain.client.getBlock({ blockTag: "pending" });
    equal(fees.maxFeePerGas, 2n * (baseFeePerGas ?? 0n) + fees.maxPriorityFeePerGas);
    const nonce = await driver.nonce(account.address);
    const plan = { chainId: chain.chainId, nonce, to: NOBODY, data: "0x", gasLimit: 21_000n, ...fees };
    const first = await account.sign(plan);
    await chain.client.setAutomine(false);
    deepEqual(await driver.submit(first.raw), { kind: "accepted" });
    deepEqual(await driver.submit(first.raw), { kind: "known" });
    const cheaper = await account.sign({ ...plan, maxPriorityFeePerGas: 1n, maxFeePerGas: fees.maxFeePerGas - 1n });
    deepEqual(await driver.submit(cheaper.raw), { kind: "underpriced" });
    await chain.mine(1);
    await chain.client.setAutomine(true);
    equal((await driver.receipt(first.chainTx))?.succeeded, true);
    equal(await driver.nonce(account.address), nonce + 1n);
    deepEqual(await driver.submit(cheaper.raw), { kind: "nonce_used" });
    const poor = openGasAccount(`0x${"77".repeat(32)}`);
    deepEqual(await driver.submit((await poor.sign({ ...plan, nonce: 0n })).raw), { kind: "no_funds" });
    equal(await driver.nativeBalance(poor.address), 0n);
  });

  test("a gas account signs exactly what it is told, and shows no key", async () => {
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
