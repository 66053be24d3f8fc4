import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { computeInboxAddress } from "@tributary/inbox/address";
import { termsFromWire } from "@tributary/inbox/wire";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import type { Browser, BrowserContext, FrameLocator, Page } from "playwright-core";
import { createKeypair } from "../../packages/local-solana/src/keypairs.ts";
import { createPayer } from "../../src/operator/client/payer.ts";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { createSolanaPayer } from "../../src/operator/client/solanaPayer.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { evmChains, solanaOf, solanaPayout, useDevWorld } from "../support/devWorld.ts";
import { openMerchantSite } from "../support/merchantSite.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { installStandardWallet } from "../support/standardWallet.ts";
import { drawBytes } from "../support/drawBytes.ts";
import { onlyDeep } from "../support/runNumber.ts";

// Payers on Solana in a browser, against the dev world: the service watches its local Solana, and the open page
// follows.

const WAIT_MS = 120_000;
const PRICE = 25_000_000;
const SEED_BYTES = 32;

describe("a payer on Solana at the checkout page", { skip: skipWithoutChromium }, () => {
  const world = useDevWorld();
  let browser: Browser;

  before(async () => {
    browser = await sharedBrowser();
  });

  type Intent = Awaited<ReturnType<typeof createIntent>>;

  async function createIntent(body: { priceUnits?: number; oneTime?: boolean } = { priceUnits: PRICE, oneTime: true }) {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[1]?.apiKey ?? "" });
    // A wallet of its own, so that no other payment occupies the destination.
    const { address: payoutWallet } = createKeypair(drawBytes(SEED_BYTES));
    return api.createPaymentIntent({ ...body, ...solanaPayout(world.dev), payoutWallet });
  }

  async function withPage(use: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) errors.push(message.text());
    });
    try {
      await use(page);
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  }

  async function openChecked(page: Page, intent: Intent): Promise<void> {
    await page.goto(`${intent.checkoutUrl}#${intent.widgetToken}`);
    await chooseSolana(page, intent);
    await screen(page, "ready");
    await page.locator(".ok").getByText("Checked on your device").waitFor({ timeout: WAIT_MS });
    assert.equal(await page.locator("#address").textContent(), intent.inboxAddress);
  }

  /** Chooses the payout's own coin: those on EVM chains pay too. */
  async function chooseSolana(place: Page | FrameLocator, { payout }: Intent): Promise<void> {
    await place.locator(`button[data-do=choose][data-value$="${payout.tokenAddress}"]`).click({ timeout: WAIT_MS });
  }

  /** Sends USDC as another wallet of the payer would. */
  async function transfer({ payout, inboxAddress }: Intent, units: bigint): Promise<string> {
    const { privateKey } = world.dev.ready.solana.payer;
    const payer = await createSolanaPayer({ rpcUrl: solanaOf(world.dev).rpcUrl, privateKey });
    return (await payer.transfer(payout.tokenAddress, inboxAddress, units)).txHash;
  }

  test(
    "a plain transfer in two parts: the open page asks for the rest, then says paid, and links to both transfers",
    { skip: onlyDeep },
    async () => {
      const intent = await createIntent();
      await withPage(async (page) => {
        await openChecked(page, intent);
        const first = await transfer(intent, 20_000_000n);
        await screen(page, "underpaid");
        assert.equal(await heading(page), "Send 5.00 USDC more");
        const second = await transfer(intent, 5_000_000n);
        await screen(page, "paid");
        assert.equal(await page.locator("[data-deposit=counted]").count(), 2);
        const links = await page.getByRole("link", { name: "See it on the network" }).all();
        const hrefs = await Promise.all(links.map((link) => link.getAttribute("href")));
        const explorer = `${world.dev.ready.baseUrl}/dev/explorer/104`;
        assert.deepEqual(new Set(hrefs), new Set([first, second].map((txHash) => `${explorer}/tx/${txHash}`)));
        await page.goto(hrefs[0] ?? "");
        await page.getByText("success").waitFor({ timeout: WAIT_MS });
        await page.getByTitle(intent.inboxAddress).first().click();
        await page.getByRole("heading", { name: "Received" }).waitFor({ timeout: WAIT_MS });
        await page.getByText("20 USDC").first().waitFor({ timeout: WAIT_MS });
      });
    },
  );

  function installPayer(page: Page | BrowserContext, options: { isInFrames?: boolean } = {}) {
    const pair = decodeBase58(world.dev.ready.solana.payer.privateKey);
    assert.ok(pair);
    return installStandardWallet(page, { keys: [createKeypair(pair.subarray(0, SEED_BYTES))], ...options });
  }

  test("a wallet of the Wallet Standard: one signature, and the open page says paid", async () => {
    const intent = await createIntent();
    await withPage(async (page) => {
      const wallet = await installPayer(page);
      await openChecked(page, intent);
      await page.getByText("Pay with Test Wallet").click();
      await screen(page, "paid");
      assert.equal(wallet.count, 1);
    });
  });

  test("a payout on an EVM chain: the payer chooses Solana, the page checks the address there, and the wallet pays", async () => {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    const payoutWallet = `0x${Buffer.from(drawBytes(20)).toString("hex")}`;
    const intent = await api.createPaymentIntent({ priceUnits: PRICE, oneTime: true, payoutWallet });
    const [terms] = intent.inboxTerms.solanaRoutes ?? [];
    assert.ok(terms);
    await withPage(async (page) => {
      const wallet = await installPayer(page);
      await page.goto(`${intent.checkoutUrl}#${intent.widgetToken}`);
      await page.locator(`button[data-do=choose][data-value$="${terms.mint}"]`).click({ timeout: WAIT_MS });
      await screen(page, "ready");
      await page.locator(".ok").getByText("Checked on your device").waitFor({ timeout: WAIT_MS });
      const { address } = computeSolanaInbox(solanaTermsFromWire(terms), terms);
      assert.equal(await page.locator("#address").textContent(), address);
      await page.getByText("Pay with Test Wallet").click();
      await screen(page, "paid");
      assert.equal(wallet.count, 1);
    });
    const { data } = await api.listIntentSettlements(intent.intentId);
    assert.ok(data.length > 0);
  });

  test("a payout on Solana: the payer chooses an EVM chain, the page checks the address there, and the transfer pays", async () => {
    const intent = await createIntent();
    const [away] = evmChains(world.dev);
    const usdc = away?.tokens.find(({ symbol }) => symbol === "USDC")?.address ?? "";
    assert.ok(away);
    await withPage(async (page) => {
      await page.goto(`${intent.checkoutUrl}#${intent.widgetToken}`);
      const origin = page.locator(`button[data-do=choose][data-value*="${away.caip2}"][data-value$="${usdc}" i]`);
      await origin.click({ timeout: WAIT_MS });
      await screen(page, "ready");
      await page.locator(".ok").getByText("Checked on your device").waitFor({ timeout: WAIT_MS });
      const address = computeInboxAddress(termsFromWire(intent.inboxTerms));
      assert.equal((await page.locator("#address").textContent())?.toLowerCase(), address);
      const payer = await createPayer({ rpcUrl: away.rpcUrl, privateKey: world.dev.ready.payer.privateKey });
      await payer.transfer(usdc, address, BigInt(PRICE));
      await screen(page, "paid");
    });
  });

  test(
    "in a shop's frame, where no wallet shows itself: the page opens in a tab, the wallet pays there, and the frame says paid",
    { skip: onlyDeep },
    async () => {
      const { baseUrl, accounts } = world.dev.ready;
      const shop = await openMerchantSite();
      const api = createApiClient({ baseUrl, apiKey: accounts[1]?.apiKey ?? "" });
      await api.replacePageOrigins({ origins: [shop.origin] });
      try {
        const intent = await createIntent();
        shop.html = `<!doctype html><html lang="en"><title>A shop</title><script>window.events = []</script><script type="module">
        import { mount } from "${baseUrl}/sdk/v1.js";
        mount({ intentId: "${intent.intentId}", onPaid: ({ stage }) => window.events.push(stage) });
      </script>`;
        await withPage(async (page) => {
          const wallet = await installPayer(page.context(), { isInFrames: false });
          await page.goto(shop.origin);
          const frame = page.frameLocator("iframe");
          await chooseSolana(frame, intent);
          const opened = page.waitForEvent("popup");
          await frame.getByRole("button", { name: "Pay with a wallet in this browser" }).click({ timeout: WAIT_MS });
          const tab = await opened;
          await tab.getByText("Pay with Test Wallet").click({ timeout: WAIT_MS });
          await screen(tab, "paid");
          await frame.locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
          assert.deepEqual([await page.evaluate("window.events"), wallet.count], [["paid"], 1]);
          assert.equal(await tab.evaluate("window.opener"), null);
        });
      } finally {
        await shop.close();
      }
    },
  );

  test(
    "a payment without a price: the wallet sends the amount that the payer types, and nothing before",
    { skip: onlyDeep },
    async () => {
      const intent = await createIntent({});
      await withPage(async (page) => {
        const wallet = await installPayer(page);
        await openChecked(page, intent);
        const button = page.getByRole("button", { name: "Pay with Test Wallet" });
        const amount = page.getByLabel("Amount", { exact: true });
        for (const text of ["", "0", "1.0000001", "1e3", "12,5,0"]) {
          await amount.fill(text);
          assert.equal(await button.getAttribute("aria-disabled"), "true", text);
          // A disabled look alone would still send.
          await button.dispatchEvent("click");
        }
        await amount.fill("12,5");
        await page.locator("button[data-do=wallet]:not([aria-disabled])").waitFor({ timeout: WAIT_MS });
        assert.equal(wallet.count, 0);
        await button.click();
        await screen(page, "paid");
        assert.equal(wallet.count, 1);
        await page.locator("[data-amount=paid]").getByText("12.50").waitFor({ timeout: WAIT_MS });
      });
    },
  );
});

async function screen(page: Page, name: string): Promise<void> {
  await page.locator(`main[data-screen="${name}"]`).waitFor({ timeout: WAIT_MS });
}

async function heading(page: Page): Promise<string> {
  return (await page.locator("h1").innerText()).replaceAll("\u00a0", " ");
}
