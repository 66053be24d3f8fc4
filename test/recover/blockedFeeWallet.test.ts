import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import type { Hex } from "viem";
import { sendTransaction } from "../../packages/recover/page/sendTransaction.ts";
import { buildSettleCall } from "../../packages/recover/src/contractCalls.ts";
import { defaultFeeCeiling } from "../../packages/recover/src/gasPrice.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

const { payoutFirst, feeRecipient, recoveryFirst, operator } = DEV_ACCOUNTS;
const UNITS = 10_001n;

describe("recovery while the fee wallet is on the token's blocklist", () => {
  const folder = temporaryFolder();
  let chain: TestChain;
  let inboxCount = 0;
  before(async () => {
    chain = await startTestChain();
    await chain.pay(chain.usdc.address, payoutFirst.address, { amountUnits: 1n });
    await chain.blocklist(chain.usdc.address, feeRecipient.address);
  });
  after(async () => {
    folder.remove();
    await chain.stop();
  });

  function newTerms(): Terms {
    inboxCount += 1;
    return {
      salt: computeInboxSalt(`0x${"11".repeat(32)}`, `pi_blocked_${inboxCount}`),
      settleChainId: BigInt(chain.chainId),
      settleToken: chain.usdc.address,
      payout: payoutFirst.address,
      feeRecipient: feeRecipient.address,
      feeBps: 100,
      recovery: recoveryFirst.address,
      recoverAfter: computeRecoverAfter(systemClock.now()),
      routesRoot: computeRoutesRoot([]),
    };
  }
  /** A wallet that signs for the operator with the gas limit of the page. */
  async function requestAsWallet(method: string, params: readonly unknown[]): Promise<unknown> {
    if (method === "eth_sendTransaction") {
      const [{ to, data, gas }] = params as [{ to: Hex; data: Hex; gas: Hex }];
      const [receipt] = await chain.send(operator, [{ to, data, gasLimit: BigInt(gas) }]);
      return receipt?.transactionHash;
    }
    const parameters = [...params];
    return chain.client.request<{ Method: string; Parameters: unknown[]; ReturnType: unknown }>({
      method,
      params: parameters,
    });
  }
  /** Settles twice, because an inbox that exists needs less gas, and returns the units that the payout received. */
  async function settleTwice(terms: readonly Terms[], settle: () => Promise<void>): Promise<bigint[]> {
    const received: bigint[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (const each of terms) await chain.pay(chain.usdc.address, computeInboxAddress(each), { amountUnits: UNITS });
      const before = await chain.balanceOf(chain.usdc.address, payoutFirst.address);
      await settle();
      received.push((await chain.balanceOf(chain.usdc.address, payoutFirst.address)) - before);
    }
    return received;
  }

  for (const count of [1, 2, 10]) {
    const expected = [UNITS * BigInt(count), UNITS * BigInt(count)];
    test(`the command settles ${count} inboxes in one run`, async () => {
      const terms = Array.from({ length: count }, newTerms);
      const file = join(folder.path, `intents-${count}.json`);
      writeFileSync(file, JSON.stringify(terms.map((each) => ({ inboxTerms: termsToWire(each) }))));
      const args = ["recover", file, "--rpc", chain.rpcUrl, "--settle"];
      const settle = async () => {
        const { code, err } = await runCli(args, { TRIBUTARY_RECOVER_KEY: operator.privateKey });
        assert.equal(code, 0, err);
      };
      assert.deepEqual(await settleTwice(terms, settle), expected);
    });

    test(`the page settles ${count} inboxes in one transaction`, async () => {
      const terms = Array.from({ length: count }, newTerms);
      const settle = async () => {
        const account: Hex = operator.address;
        const feeCeiling = defaultFeeCeiling(BigInt(chain.chainId));
        await sendTransaction(
          { request: requestAsWallet, account, chainId: BigInt(chain.chainId), feeCeiling },
          buildSettleCall(terms),
          () => undefined,
        );
      };
      assert.deepEqual(await settleTwice(terms, settle), expected);
    });
  }
});
