import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

// A stranger can send a token to an inbox that then refuses to leave it.

const { payoutFirst, feeRecipient, recoveryFirst } = DEV_ACCOUNTS;
const folder = temporaryFolder();
let chain: TestChain;

before(async () => {
  chain = await startTestChain();
});
after(async () => {
  folder.remove();
  await chain.stop();
});

test("a token that refuses its rescue is named, and does not stop the rescue of the next inbox", async () => {
  const [first, second] = ["pi_first", "pi_second"].map((id): Terms => {
    return {
      salt: computeInboxSalt(`0x${"11".repeat(32)}`, id),
      settleChainId: BigInt(chain.chainId),
      settleToken: chain.usdc.address,
      payout: payoutFirst.address,
      feeRecipient: feeRecipient.address,
      feeBps: 100,
      recovery: recoveryFirst.address,
      recoverAfter: computeRecoverAfter(systemClock.now()),
      routesRoot: computeRoutesRoot([]),
    };
  }) as [Terms, Terms];
  const token = chain.dusd.address;
  await chain.pay(token, computeInboxAddress(first), { amountUnits: 7n * 10n ** 18n });
  await chain.pay(token, computeInboxAddress(second), { amountUnits: 8n * 10n ** 18n });
  await chain.blocklist(token, computeInboxAddress(first));
  const file = join(folder.path, "intents.json");
  writeFileSync(file, JSON.stringify([first, second].map((terms) => ({ inboxTerms: termsToWire(terms) }))));
  const args = ["recover", file, "--rpc", chain.rpcUrl, "--rescue"];
  const { code, out, err } = await runCli(args, { TRIBUTARY_RECOVER_KEY: recoveryFirst.privateKey });
  assert.equal(code, 1);
  assert.match(err, new RegExp(`^Not rescued: DUSD in ${computeInboxAddress(first)}\\. The hub rejects the call`, "m"));
  assert.match(out, /rescued 8 DUSD/);
  assert.equal(await chain.balanceOf(token, payoutFirst.address), 8n * 10n ** 18n);
});
