import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import type { Browser } from "playwright-core";
import type { Hex } from "viem";
import { buildPage, PAGE_PATH } from "../../packages/recover/scripts/buildPage.ts";
import { DEV_ACCOUNTS, type DevAccount } from "../../src/dev/devAccounts.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { openRecoveryPage } from "../support/recoveryPage.ts";

// The offline recovery page in a real browser, with a wallet that signs for one account.

const WALLET: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

test("the page in the repository matches its sources", async () => {
  assert.ok((await readFile(PAGE_PATH, "utf8")) === (await buildPage()), "run: npm run page -w @tributary/recover");
});

describe("the recovery page", { skip: skipWithoutChromium }, () => {
  let chain: TestChain;
  let browser: Browser;
  let terms: Terms;

  before(async () => {
    [chain, browser] = await Promise.all([startTestChain(), sharedBrowser()]);
    terms = {
      salt: computeInboxSalt(`0x${"11".repeat(32)}`, "pi_page"),
      settleChainId: BigInt(chain.chainId),
      settleToken: chain.usdc.address,
      payout: WALLET,
      feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
      feeBps: 100,
      recovery: DEV_ACCOUNTS.recoveryFirst.address,
      recoverAfter: computeRecoverAfter(systemClock.now()),
      routesRoot: computeRoutesRoot([]),
    };
    await chain.pay(chain.usdc.address, computeInboxAddress(terms), { amountUnits: 3_000_000n });
    await chain.pay(chain.dusd.address, computeInboxAddress(terms), { amountUnits: 2n * 10n ** 18n });
  });
  after(async () => {
    await chain.stop();
  });

  function open(account: DevAccount) {
    const intents = { intentId: "pi_page", inboxTerms: termsToWire(terms) };
    return openRecoveryPage(browser, { account, chain: () => chain, intents });
  }

  test("a stranger can settle the payout token; the page offers the wrong token only to the recovery address", async () => {
    const { page, errors } = await open(DEV_ACCOUNTS.stranger);
    const rows = page.locator("#holdings li");
    await rows.filter({ hasText: "3 USDC" }).getByRole("button", { name: "Settle to the payout" }).click();
    await page.getByText("Done. The remaining balances are shown above.").waitFor();
    await rows.filter({ hasText: "2 DUSD" }).getByText("Connect the recovery address").waitFor();
    assert.equal(await chain.balanceOf(chain.usdc.address, WALLET), 2_970_000n);
    assert.equal(await rows.filter({ hasText: "USDC" }).count(), 0);
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("the recovery address sends the wrong token to the payout wallet", async () => {
    const { page, errors } = await open(DEV_ACCOUNTS.recoveryFirst);
    await page.getByRole("button", { name: "Rescue to the payout wallet" }).click();
    await page.getByText(/holds nothing for these inboxes/).waitFor();
    assert.equal(await chain.balanceOf(chain.dusd.address, WALLET), 2n * 10n ** 18n);
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("invalid input is refused with a message, and the wallet gets no request", async () => {
    const { page } = await open(DEV_ACCOUNTS.stranger);
    await page.getByLabel("Intents as JSON").fill('{"intentId":"pi_x"}');
    await page.getByText("take the whole intent as the API returns it").waitFor();
    assert.equal(await page.locator("#chain-step").isVisible(), false);
    await page.close();
  });
});
