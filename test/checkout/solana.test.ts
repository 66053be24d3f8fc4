import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import type { Browser, Page } from "playwright-core";
import { SOLANA_ADDRESS } from "../../packages/checkout/test/samples.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import type { Json, TestApi } from "../support/api.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { openSample } from "../support/checkoutSamples.ts";
import { createLocalIntent, openLocalSolanaApi } from "../support/localSolanaApi.ts";
import { callRpc, createWallet, startTestSolana } from "../support/solana.ts";
import { installStandardWallet, type AskedWallet, type StandardWalletOptions } from "../support/standardWallet.ts";
import { onlyDeep } from "../support/runNumber.ts";

// Payers on Solana in a browser: the real server, a local chain, and a wallet of the Wallet Standard.

const skip = skipWithoutChromium;
const WAIT_MS = 120_000;
const PRICE = 25_000_000n;
const DESK = { viewport: { width: 1_280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const { payer } = SOLANA_ACCOUNTS;

describe("a payer on Solana", { skip }, () => {
  let browser: Browser;
  let solana: LocalSolana;
  let api: TestApi;
  let baseUrl: string;

  before(async () => {
    browser = await sharedBrowser();
    solana = await startTestSolana({ name: "checkout page" });
    api = await openLocalSolanaApi(solana);
    baseUrl = await api.server.listen({ port: 0, host: "127.0.0.1" });
    Object.assign(api.world.config, { baseUrl });
  });

  after(async () => {
    await api.server.close();
  });

  type Opened = { page: Page; intent: Json; wallet: AskedWallet };

  /** Opens the page of a new intent in a browser that has the wallet. */
  async function withPayment(options: StandardWalletOptions, use: (opened: Opened) => Promise<void>): Promise<void> {
    const intent = await createLocalIntent(await api.openMerchant(), solana);
    const context = await browser.newContext(DESK);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) errors.push(message.text());
    });
    try {
      const wallet = await installStandardWallet(page, options);
      await page.goto(`${baseUrl}/c/${intent.intentId}#${intent.widgetToken}`);
      await page.getByText("Pay with Test Wallet").waitFor({ timeout: WAIT_MS });
      await use({ page, intent, wallet });
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  }

  function inboxUnits({ inboxAddress }: Json): bigint {
    return solana.control.units(deriveTokenAccount(inboxAddress, LOCAL_MINTS.USDC.address, tokenProgram).address);
  }

  async function send(transaction: Uint8Array): Promise<void> {
    const base64 = Buffer.from(transaction).toString("base64");
    const sent = await callRpc(solana, "sendTransaction", base64, {
      encoding: "base64",
      preflightCommitment: "confirmed",
    });
    assert.equal(sent.error, undefined, JSON.stringify(sent.error));
  }

  test("pays with a wallet that sends, after a refusal: one transfer of the price, to the checked address", async () => {
    const sent: Uint8Array[] = [];
    const options = { keys: [payer], kind: "sends", send: (each: Uint8Array) => void sent.push(each) } as const;
    await withPayment(options, async ({ page, intent, wallet }) => {
      assert.equal(await page.locator("#address").textContent(), intent.inboxAddress);
      await page.locator(".ok").getByText("Checked on your device").waitFor({ timeout: WAIT_MS });
      assert.equal(await page.getByText("Other Wallet").count(), 0, "a wallet of other chains is not listed");
      wallet.refusesNext = true;
      await page.getByText("Pay with Test Wallet").click();
      await page.getByText("Test Wallet did not send it. Nothing was paid").waitFor({ timeout: WAIT_MS });
      await page.getByText("Pay with Test Wallet").click();
      await page.getByText("Test Wallet has sent it.").waitFor({ timeout: WAIT_MS });
      assert.deepEqual([wallet.count, sent.length], [2, 1]);
      for (const transaction of sent) await send(transaction);
      solana.control.nextSlot();
      assert.equal(inboxUnits(intent), PRICE);
    });
  });

  test("sends what a wallet only signed over the public RPC URL", { skip: onlyDeep }, async () => {
    await withPayment({ keys: [payer] }, async ({ page, intent, wallet }) => {
      await page.getByText("Pay with Test Wallet").click();
      await page.getByText("Test Wallet has sent it.").waitFor({ timeout: WAIT_MS });
      solana.control.nextSlot();
      assert.deepEqual([wallet.count, inboxUnits(intent)], [1, PRICE]);
    });
  });

  test(
    "says when the wallet has too little, or no account on the network, and asks it nothing",
    { skip: onlyDeep },
    async () => {
      await withPayment({ keys: [createWallet(solana)] }, async ({ page, wallet }) => {
        await page.getByText("Pay with Test Wallet").click();
        await page.getByText("Test Wallet has too little USDC on Solana.").waitFor({ timeout: WAIT_MS });
        assert.equal(wallet.count, 0);
      });
      await withPayment({ keys: [payer], chains: ["solana:mainnet"] }, async ({ page, wallet }) => {
        await page.getByText("Pay with Test Wallet").click();
        await page.getByText("Test Wallet has no account on Solana.").waitFor({ timeout: WAIT_MS });
        assert.equal(wallet.count, 0);
      });
    },
  );

  test("a transaction that is not the shown payment never reaches the wallet", async () => {
    await withPayment({ keys: [payer] }, async ({ page, intent, wallet }) => {
      const other = await createLocalIntent(await api.openMerchant(), solana);
      await page.route(`**/c/${intent.intentId}/solana-pay`, (route) =>
        route.continue({ url: `${baseUrl}/c/${other.intentId}/solana-pay` }),
      );
      await page.getByText("Pay with Test Wallet").click();
      await page.getByText("Test Wallet was not ready, and was asked for nothing.").waitFor({ timeout: WAIT_MS });
      assert.equal(wallet.count, 0);
    });
  });
});

describe("the screens of a payment on Solana", { skip }, () => {
  let browser: Browser;

  before(async () => {
    browser = await sharedBrowser();
  });

  async function onScreen(options: typeof DESK | typeof PHONE, name: string, use: (page: Page) => Promise<void>) {
    const context = await browser.newContext(options);
    try {
      const page = await context.newPage();
      await openSample(page, name);
      await use(page);
    } finally {
      await context.close();
    }
  }

  test("the code is a transaction request, the address stands alone beside it, and nothing speaks of EVM", async () => {
    await onScreen(DESK, "solana", async (page) => {
      await page.locator(".ok").waitFor({ timeout: WAIT_MS });
      const codeOf = (way: string) => page.locator(`${way} [data-content]`).getAttribute("data-content");
      assert.equal(await codeOf(".by-wallet"), "solana:https://checkout.example/c/pi_sample/solana-pay");
      await page.locator('[for="way-address"]').click();
      assert.equal(await codeOf(".by-address"), SOLANA_ADDRESS);
      assert.match(await page.locator("#derived").innerText(), /no private key of its own; we do not know which/);
      const text = await page.locator("body").innerText();
      assert.match(text.replaceAll("\u00a0", " "), /A transfer below 0\.50 USDC counts only together with others/);
      assert.match(text, /Send only USDC, and only on Solana\./);
      assert.doesNotMatch(text, /0x|chain id|\bgas\b|Ethereum|EVM/i);
    });
  });

  test("a payment without a price has the plain address alone", async () => {
    await onScreen(DESK, "solanaOpenEnded", async (page) => {
      await page.locator(".ok").waitFor({ timeout: WAIT_MS });
      assert.equal(await page.locator(".by-wallet").count(), 0);
      assert.equal(await page.locator(".qr [data-content]").getAttribute("data-content"), SOLANA_ADDRESS);
    });
  });

  test("an address that its terms do not give is refused", async () => {
    await onScreen(DESK, "solanaForged", async (page) => {
      await page.locator("main[data-screen=refused]").waitFor({ timeout: WAIT_MS });
      assert.equal(await page.locator(".qr, .copy, .order-summary").count(), 0);
    });
  });

  test(
    "on a phone the button leads to the transaction request, beside apps that know Solana",
    { skip: onlyDeep },
    async () => {
      await onScreen(PHONE, "solana", async (page) => {
        const link = page.getByRole("link", { name: "Open in a wallet app" });
        assert.equal(await link.getAttribute("href"), "solana:https://checkout.example/c/pi_sample/solana-pay");
        assert.deepEqual(await page.locator("[data-do=app] bdi").allInnerTexts(), ["Phantom", "Solflare", "Trust"]);
      });
    },
  );

  test(
    "a confirmed deposit shows with the time until it is final, and its place on the explorer",
    { skip: onlyDeep },
    async () => {
      await onScreen(DESK, "solanaSeen", async (page) => {
        await page.getByText("About 12 seconds to go.").waitFor({ timeout: WAIT_MS });
        const href = await page.getByRole("link", { name: "See it on the network" }).getAttribute("href");
        assert.match(href ?? "", /\/tx\/3{88}$/);
      });
    },
  );
});
