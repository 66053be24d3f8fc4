import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import type { Browser } from "playwright-core";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { openRecoveryPage } from "../support/recoveryPage.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";

// The recovery page where the wallet is on another network than it seems, and where the payout wallet is blocked.

const { payoutFirst, payoutSecond, feeRecipient, recoveryFirst } = DEV_ACCOUNTS;
const UNITS = 3_000_000n;

describe("the recovery page", { skip: skipWithoutChromium }, () => {
  let home: TestChain;
  let other: TestChain;
  /** The network that the wallet is on. It tells nobody when it changes. */
  let current: TestChain;
  let browser: Browser;
  let terms: Terms;
  let count = 0;

  before(async () => {
    [home, other, browser] = await Promise.all([
      startTestChain(),
      startTestChain({ chainId: 900_002 }),
      sharedBrowser(),
    ]);
    await home.blocklist(home.usdc.address, payoutFirst.address);
  });
  after(async () => {
    await Promise.all([home.stop(), other.stop()]);
  });
  beforeEach(() => {
    current = home;
    count += 1;
    terms = {
      salt: computeInboxSalt(`0x${"22".repeat(32)}`, `pi_guard_${count}`),
      settleChainId: BigInt(home.chainId),
      settleToken: home.usdc.address,
      payout: payoutFirst.address,
      feeRecipient: feeRecipient.address,
      feeBps: 0,
      recovery: recoveryFirst.address,
      recoverAfter: 1,
      routesRoot: computeRoutesRoot([]),
    };
  });

  const open = (intents: unknown = { inboxTerms: termsToWire(terms) }) =>
    openRecoveryPage(browser, { account: recoveryFirst, chain: () => current, intents });

  test("nothing is sent when the wallet has changed its network since the balances were read", async () => {
    const inbox = computeInboxAddress(terms);
    for (const chain of [home, other]) await chain.pay(chain.dusd.address, inbox, { amountUnits: UNITS });
    const { page } = await open();
    const rescue = page.getByRole("button", { name: "Rescue to the payout wallet" });
    await rescue.waitFor();
    const balances = () => Promise.all([home, other].map((chain) => chain.balanceOf(chain.dusd.address, inbox)));
    current = other;
    await rescue.click();
    await page
      .getByText("Your wallet is on chain 900002 now, and this is for chain 900001. Nothing was sent.")
      .waitFor();
    assert.deepEqual(await balances(), [UNITS, UNITS]);
    await page.close();
  });

  test("after the recovery date the payout token leaves to a named receiver, and a refusal is said in words", async () => {
    const inbox = computeInboxAddress(terms);
    await home.pay(home.usdc.address, inbox, { amountUnits: UNITS });
    const { page, errors } = await open();
    const row = page.locator("#holdings li").filter({ hasText: "3 USDC" });
    await row.getByRole("button", { name: "Settle to the payout" }).click();
    await page.getByText("the token refuses the transfer to the payout wallet, which its issuer may block").waitFor();
    await page.getByLabel("Another receiver").fill(payoutFirst.address);
    await page.getByLabel("Another receiver").blur();
    await row.getByRole("button", { name: "Rescue to the wallet below" }).click();
    await page.getByText("the token refuses the transfer to the receiver").waitFor();
    await page.getByLabel("Another receiver").fill(inbox);
    await page.getByLabel("Another receiver").blur();
    await row.getByRole("button", { name: "Rescue to the wallet below" }).click();
    await page.getByText("is an inbox or a hub, not a wallet. Nothing was sent.").waitFor();
    await page.getByLabel("Another receiver").fill(payoutSecond.address);
    await page.getByLabel("Another receiver").blur();
    await assertAccessible(page);
    await row.getByRole("button", { name: "Rescue to the wallet below" }).click();
    await page.getByText("Done. The remaining balances are shown above.").waitFor();
    assert.equal(await home.balanceOf(home.usdc.address, payoutSecond.address), UNITS);
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("a malformed entry is named and does not hide the others", async () => {
    await home.pay(home.dusd.address, computeInboxAddress(terms), { amountUnits: 5n });
    const { page } = await open([{ intentId: "pi_bad", inboxTerms: {} }, { inboxTerms: termsToWire(terms) }]);
    await page.getByText(/1 of the file left out\. Entry 1: it has no inboxTerms/).waitFor();
    await page.locator("#holdings li").filter({ hasText: "DUSD" }).waitFor();
    await page.close();
  });
});
