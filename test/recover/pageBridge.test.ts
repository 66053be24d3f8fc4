import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Hex } from "viem";
import { attestationUrls } from "../../packages/recover/src/bridge/attestation.ts";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { showIntent } from "../../src/operator/intentOperations.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import type { TestChain } from "../support/chain.ts";
import { openRecoveryPage, type RecoveryPage } from "../support/recoveryPage.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The recovery page on an intent of two chains, without the service. Its requests to Circle's service reach the local
// one.

const PAID = 5_000_000n;

describe("the recovery page bridges", { skip: skipWithoutChromium }, () => {
  let road: BridgedRoad;
  let browser: Browser;
  let home: TestChain;
  let origin: TestChain;
  let intents: unknown;
  let inbox: Hex;
  /** The network that the wallet is on. */
  let current: TestChain;

  before(async () => {
    [road, browser] = await Promise.all([openBridgedRoad({ chains: 2 }), sharedBrowser()]);
    [home, origin] = road.chains as [TestChain, TestChain];
  });
  after(async () => {
    await road.close();
  });
  beforeEach(async () => {
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    const { id } = await road.create(home);
    const { intent } = await showIntent.run(road.world, { intentId: id });
    intents = intent;
    inbox = intent.inboxAddress.toLowerCase() as Hex;
    await origin.pay(origin.usdc.address, inbox, { amountUnits: PAID });
    current = origin;
  });

  async function open(): Promise<RecoveryPage> {
    const opened = await openRecoveryPage(browser, {
      account: DEV_ACCOUNTS.stranger,
      chain: () => current,
      intents,
      service: {
        url: attestationUrls.main,
        answer: (path, method) => fetch(`${road.attestation.url}${path}`, { method }),
      },
    });
    const { page } = opened;
    await page.getByText("This page does not know Circle's contracts").waitFor();
    await page.getByText("Something is missing?").click();
    const table = road.sides.map(({ chainId, token, bridge: { domain, messenger, transmitter } }) => {
      return { chainId, domain, messenger, transmitter, usdc: token };
    });
    await page.locator("#bridges").fill(JSON.stringify(table));
    await page.getByRole("button", { name: "Look again" }).click();
    return opened;
  }

  const payoutOf = () => home.balanceOf(home.usdc.address, DEV_ACCOUNTS.payoutFirst.address);

  test("standard: a stranger bridges, fetches the attestation when it is signed, and receives on the payout's chain", async () => {
    const earlier = await payoutOf();
    const { page, errors } = await open();
    const row = page.locator("#holdings li").filter({ hasText: "5 USDC" });
    await row.getByRole("button", { name: `Bridge to chain ${home.chainId}, for at most 0.1 %` }).click();
    await page.getByText(/^Bridged by 0x[0-9a-f]{64}\. Keep this hash/).waitFor();
    assert.equal(await origin.balanceOf(origin.usdc.address, inbox), 0n);
    const status = page.locator("#receive-status");
    road.attestation.settings.delayReason = "insufficient_fee";
    await page.getByRole("button", { name: "Fetch from Circle" }).click();
    await status.getByText(/Circle has not signed it yet \(insufficient_fee\)/).waitFor();
    road.attestation.settings.delayReason = undefined;
    await origin.finalize();
    await page.getByRole("button", { name: "Fetch from Circle" }).click();
    await status.getByText("Message and attestation are here").waitFor();
    await page.getByRole("button", { name: "Receive and settle" }).click();
    await status.getByText(`Switch the network in your wallet to chain ${home.chainId}`).waitFor();
    current = home;
    await page.getByRole("button", { name: "Receive and settle" }).click();
    await status.getByText(/^5 USDC were settled by 0x[0-9a-f]{64}\.$/).waitFor();
    assert.equal((await payoutOf()) - earlier, (PAID * 9_950n) / 10_000n);
    assert.deepEqual(
      errors.filter((text) => !text.includes("404")),
      [],
    );
    await page.close();
  });

  test(
    "fast: an expired attestation is asked for anew; the service's whole answer can be pasted",
    { skip: onlyDeep },
    async () => {
      Object.assign(road.attestation.settings, { expiresAfterBlocks: 2n, renewedAfterMs: 0 });
      const earlier = await payoutOf();
      const { page, errors } = await open();
      await page.getByRole("button", { name: "Bridge fast to chain" }).click();
      await page.getByText(/^Bridged by 0x/).waitFor();
      const burn = await page.locator("#burn-tx").inputValue();
      current = home;
      await page.getByRole("button", { name: "Fetch from Circle" }).click();
      await page.getByText("Message and attestation are here").waitFor();
      await home.mine(2);
      await page.getByRole("button", { name: "Receive and settle" }).click();
      await page.getByText("The attestation has expired. Circle was asked for a new one").waitFor();
      const answer = await fetch(`${road.attestation.url}/v2/messages/1?transactionHash=${burn}`);
      await page.locator("#message").fill(await answer.text());
      await page.getByRole("button", { name: "Receive and settle" }).click();
      await page.getByText(/^4\.99935 USDC were settled by/).waitFor();
      assert.equal((await payoutOf()) - earlier, 4_974_354n);
      await page.locator("#message").fill("0x12");
      await page.getByRole("button", { name: "Receive and settle" }).click();
      await page.getByText("Paste message and attestation as the attestation service shows them.").waitFor();
      assert.deepEqual(
        errors.filter((text) => !text.includes("404")),
        [],
      );
      await page.close();
    },
  );

  test("a burn of somebody else is listed, and received from the list", { skip: onlyDeep }, async () => {
    const earlier = await payoutOf();
    const first = await open();
    await first.page.getByRole("button", { name: `Bridge to chain ${home.chainId}` }).click();
    await first.page.getByText(/^Bridged by 0x/).waitFor();
    await first.page.close();
    await origin.finalize();
    // A new page knows nothing of it.
    await origin.pay(origin.usdc.address, inbox, { amountUnits: 1_000_000n });
    const { page } = await open();
    const burned = page.locator("#burned li");
    await burned.getByText(`Switch to chain ${home.chainId} to see whether it arrived.`).waitFor();
    current = home;
    await page.getByRole("button", { name: "Look again" }).click();
    await burned.getByText(`Not received on chain ${home.chainId}.`).waitFor();
    await burned.getByRole("button", { name: "Fetch it from Circle" }).click();
    await page.getByText("Message and attestation are here").waitFor();
    await page.getByRole("button", { name: "Receive and settle" }).click();
    await page.getByText(/^5 USDC were settled by/).waitFor();
    await page.getByText("Burned, and not known to be received").waitFor({ state: "hidden" });
    assert.equal((await payoutOf()) - earlier, (PAID * 9_950n) / 10_000n);
    await page.close();
  });
});
