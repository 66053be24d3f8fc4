import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { currentHub, firstHub, hubs } from "@tributary/inbox/hubs";
import { termsToWire } from "@tributary/inbox/wire";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { FEE_RECIPIENT, inboxTerms } from "../conformance/inboxTerms.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

const { operator, payoutFirst, recoveryFirst } = DEV_ACCOUNTS;
const UNITS = 10_000n;
const folder = temporaryFolder();
let chain: TestChain;

before(async () => {
  chain = await startTestChain();
});
after(async () => {
  folder.remove();
  await chain.stop();
});

function writeInboxes(chainId: number, salt: number): string {
  const token = chain.usdc.address;
  const terms = [0, 1].map((index) => ({
    ...inboxTerms(chainId, { salt: salt + index, token, payout: payoutFirst.address }),
    recovery: recoveryFirst.address,
    recoverAfter: 1,
  }));
  const path = join(folder.path, `${salt}.json`);
  const entries = hubs.flatMap((hub) => terms.map((each) => ({ inboxTerms: termsToWire(each, hub) })));
  writeFileSync(path, JSON.stringify(entries));
  return path;
}

async function payInboxes(chainId: number, salt: number): Promise<void> {
  for (const hub of [firstHub, currentHub]) {
    for (const index of [0, 1]) {
      const token = chain.usdc.address;
      const fields = { salt: salt + index, token, payout: payoutFirst.address };
      const terms = { ...inboxTerms(chainId, fields), recovery: recoveryFirst.address, recoverAfter: 1 };
      await chain.mint(token, computeInboxAddress(terms, hub), UNITS);
    }
  }
}

const recover = (path: string, option: string, key: string) =>
  runCli(["recover", path, "--rpc", chain.rpcUrl, option, "--json"], { TRIBUTARY_RECOVER_KEY: key });

test("inboxes of both hubs are settled in one run, which deploys the first hub", async () => {
  const path = writeInboxes(chain.chainId, 100);
  await payInboxes(chain.chainId, 100);
  const { code, err } = await recover(path, "--settle", operator.privateKey);
  assert.equal(code, 0, err);
  assert.equal(await chain.balanceOf(chain.usdc.address, payoutFirst.address), 4n * 9_950n);
  assert.equal(await chain.balanceOf(chain.usdc.address, FEE_RECIPIENT), 4n * 50n);
  assert.ok(await chain.client.getCode({ address: firstHub.address }));
});

test("on another chain than that of the payout, a rescue goes to the recovery address that sends it", async () => {
  const path = writeInboxes(5_555, 200);
  await payInboxes(5_555, 200);
  const before = await chain.balanceOf(chain.usdc.address, payoutFirst.address);
  const fund = { address: recoveryFirst.address, value: 10n ** 18n };
  await chain.client.setBalance(fund);
  const { code, err } = await runCli(
    ["recover", path, "--rpc", chain.rpcUrl, "--rescue", "--token", chain.usdc.address],
    { TRIBUTARY_RECOVER_KEY: recoveryFirst.privateKey },
  );
  assert.equal(code, 0, err);
  assert.equal(await chain.balanceOf(chain.usdc.address, payoutFirst.address), before);
  assert.equal(await chain.balanceOf(chain.usdc.address, recoveryFirst.address), 4n * UNITS);
});
