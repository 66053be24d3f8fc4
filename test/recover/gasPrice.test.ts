import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import { parseGwei, type Hex } from "viem";
import { sendTransaction } from "../../packages/recover/page/sendTransaction.ts";
import { buildSettleCall } from "../../packages/recover/src/contractCalls.ts";
import { parseGwei as parseCeiling } from "../../packages/recover/src/gasPrice.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

const { payoutFirst, feeRecipient, recoveryFirst, operator } = DEV_ACCOUNTS;
const UNITS = 10_000n;
describe("the gas price of a recovery", () => {
  const folder = temporaryFolder();
  let chain: TestChain;
  let terms: Terms;
  let inboxCount = 0;
  before(async () => {
    chain = await startTestChain();
  });
  after(async () => {
    folder.remove();
    await chain.stop();
  });

  beforeEach(async () => {
    inboxCount += 1;
    terms = {
      salt: computeInboxSalt(`0x${"11".repeat(32)}`, `pi_gas_price_${inboxCount}`),
      settleChainId: BigInt(chain.chainId),
      settleToken: chain.usdc.address,
      payout: payoutFirst.address,
      feeRecipient: feeRecipient.address,
      feeBps: 0,
      recovery: recoveryFirst.address,
      recoverAfter: computeRecoverAfter(systemClock.now()),
      routesRoot: computeRoutesRoot([]),
    };
    await setBaseFee("1");
    await chain.pay(chain.usdc.address, computeInboxAddress(terms), { amountUnits: UNITS });
  });

  /** The base fee in gwei of a new block, and about that of the next one. */
  async function setBaseFee(gwei: string): Promise<void> {
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(gwei) });
    await chain.mine(1);
  }
  const balance = () => chain.balanceOf(chain.usdc.address, computeInboxAddress(terms));
  const countSent = () => chain.client.getTransactionCount({ address: operator.address });

  function settleByCommand(...args: readonly string[]) {
    const file = join(folder.path, `intent-${inboxCount}.json`);
    writeFileSync(file, JSON.stringify({ inboxTerms: termsToWire(terms) }));
    return runCli(["recover", file, "--rpc", chain.rpcUrl, "--settle", ...args], {
      TRIBUTARY_RECOVER_KEY: operator.privateKey,
    });
  }
  /** The fees of the newest transaction. */
  async function readFees(): Promise<{ maxFeePerGas: bigint | undefined; maxPriorityFeePerGas: bigint | undefined }> {
    const { transactions } = await chain.client.getBlock({ includeTransactions: true });
    const [{ maxFeePerGas, maxPriorityFeePerGas } = {}] = transactions;
    return { maxFeePerGas, maxPriorityFeePerGas };
  }

  test("the command signs nothing above the ceiling, and names the price and the option", async () => {
    await setBaseFee("3000");
    const sent = await countSent();
    const { code, err } = await settleByCommand();
    assert.equal(code, 1);
    assert.match(err, /gas price is now \d{4}(\.\d+)? gwei, above the ceiling of 500 gwei/);
    assert.match(err, /--max-fee-gwei/);
    assert.deepEqual([await balance(), await countSent()], [UNITS, sent]);
  });

  test("the command settles above the default once the option raises the ceiling, and never pays more than that", async () => {
    await setBaseFee("3000");
    const { code, err } = await settleByCommand("--max-fee-gwei", "3500.5");
    assert.equal(code, 0, err);
    assert.equal(await balance(), 0n);
    assert.equal((await readFees()).maxFeePerGas, parseGwei("3500.5"));
  });

  test("the command keeps to a ceiling below the default, and covers a doubled base fee below it", async () => {
    const { code, err } = await settleByCommand("--max-fee-gwei", "0.5");
    assert.equal(code, 1);
    assert.match(err, /above the ceiling of 0\.5 gwei/);
    assert.equal((await settleByCommand()).code, 0);
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = await readFees();
    const { baseFeePerGas } = await chain.client.getBlock();
    assert.ok(baseFeePerGas !== null && maxFeePerGas >= baseFeePerGas + maxPriorityFeePerGas);
    assert.ok(maxFeePerGas < parseGwei("10"), String(maxFeePerGas));
  });

  test("an unreadable ceiling is a usage error", async () => {
    for (const text of ["", "0", "-1", "1e3", "0.0000000001"]) assert.equal(parseCeiling(text), undefined, text);
    const { code, err } = await settleByCommand("--max-fee-gwei", "many");
    assert.equal(code, 2);
    assert.match(err, /--max-fee-gwei must be/);
  });

  test("the page asks the wallet for nothing above the ceiling, and states its fees below", async () => {
    const sent: { maxFeePerGas?: Hex }[] = [];
    const request = async (method: string, params: readonly unknown[]): Promise<unknown> => {
      if (method === "eth_sendTransaction") {
        const [{ to, data, gas, ...fees }] = params as [{ to: Hex; data: Hex; gas: Hex; maxFeePerGas?: Hex }];
        sent.push(fees);
        const [receipt] = await chain.send(operator, [{ to, data, gasLimit: BigInt(gas) }]);
        return receipt?.transactionHash;
      }
      return chain.client.request<{ Method: string; Parameters: unknown[]; ReturnType: unknown }>({
        method,
        params: [...params],
      });
    };
    const send = (feeCeiling: bigint) =>
      sendTransaction(
        { request, account: operator.address as Hex, chainId: BigInt(chain.chainId), feeCeiling },
        buildSettleCall([terms]),
        () => undefined,
      );
    await setBaseFee("3000");
    await assert.rejects(send(parseGwei("500")), /gas price is now \d{4}(\.\d+)? gwei, above the ceiling of 500 gwei/);
    assert.deepEqual([sent, await balance()], [[], UNITS]);
    await setBaseFee("20");
    await send(parseGwei("25"));
    assert.deepEqual(
      [sent.map(({ maxFeePerGas }) => BigInt(maxFeePerGas ?? 0)), await balance()],
      [[parseGwei("25")], 0n],
    );
  });
});
