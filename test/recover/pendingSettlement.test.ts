import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { computeInboxAddress } from "@tributary/inbox/address";
import { termsToWire } from "@tributary/inbox/wire";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { buildSettleCall } from "../../packages/recover/src/contractCalls.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { inboxTerms } from "../conformance/inboxTerms.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

// A recovery beside a service that settles the same inbox.

const { operator, payoutFirst, recoveryFirst } = DEV_ACCOUNTS;
const POLLS_MAX = 2_400;
const POLL_MS = 50;
const RESCUED_UNITS = 7n * 10n ** 18n;
const folder = temporaryFolder();
let chain: TestChain;

before(async () => {
  chain = await startTestChain();
});
after(async () => {
  folder.remove();
  await chain.stop();
});

/** Leaves a transaction of the operator in the pool, with such a low price that any other one comes before it. */
async function sendPending({ to, data }: { to: Hex; data: Hex }): Promise<Hex> {
  const account = privateKeyToAccount(operator.privateKey);
  const { baseFeePerGas } = await chain.client.getBlock();
  assert.ok(baseFeePerGas !== null);
  const serializedTransaction = await account.signTransaction({
    type: "eip1559",
    chainId: chain.chainId,
    nonce: await chain.client.getTransactionCount({ address: account.address }),
    to,
    data,
    gas: 1_000_000n,
    maxFeePerGas: baseFeePerGas * 2n,
    maxPriorityFeePerGas: 0n,
  });
  return chain.client.sendRawTransaction({ serializedTransaction });
}

async function waitForPending(count: number): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if ((await chain.client.getTxpoolStatus()).pending >= count) return;
    await delay(POLL_MS);
  }
  throw new Error(`the pool has no ${count} transactions`);
}

test("a rescue that is mined before a pending settlement has the gas to create the inbox", async () => {
  const token = chain.usdc.address;
  const terms = {
    ...inboxTerms(chain.chainId, { salt: 1, token, payout: payoutFirst.address }),
    recovery: recoveryFirst.address,
  };
  const inbox = computeInboxAddress(terms);
  await chain.pay(token, inbox, { amountUnits: 10_000n });
  await chain.pay(chain.dusd.address, inbox, { amountUnits: RESCUED_UNITS });
  const file = join(folder.path, "intent.json");
  writeFileSync(file, JSON.stringify({ inboxTerms: termsToWire(terms) }));

  await chain.client.setAutomine(false);
  const settled = await sendPending(buildSettleCall([terms]));
  const rescue = runCli(["recover", file, "--rpc", chain.rpcUrl, "--rescue"], {
    TRIBUTARY_RECOVER_KEY: recoveryFirst.privateKey,
  });
  await waitForPending(2);
  await chain.mine(1);
  const { code, out, err } = await rescue;
  assert.equal(code, 0, err);
  assert.match(out, /rescued 7 DUSD/);
  assert.equal((await chain.client.getTransactionReceipt({ hash: settled })).status, "success");
  assert.equal(await chain.balanceOf(chain.dusd.address, payoutFirst.address), RESCUED_UNITS);
});
