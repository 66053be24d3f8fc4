import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createPublicClient, createWalletClient, encodeFunctionData, http, parseAbi, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { useDevWorld } from "../support/devWorld.ts";
import { TestWallet } from "../support/testWallet.ts";
import { onlyDeep } from "../support/runNumber.ts";

// Payers in a browser, against the dev world: real chains, real transfers, the service as it is started.

const skip = skipWithoutChromium;
const TOKEN = parseAbi(["function transfer(address to, uint256 amount) returns (bool)"]);
const WAIT_MS = 120_000;
const PRICE = 25_000_000;
/** A sweep may empty the inbox after the wallet's estimate, and a transfer to an empty one costs more. */
const GAS_MARGIN = 2n;
/** What a wallet may be asked, and nothing else. */
const ALLOWED_CALLS = [
  "eth_requestAccounts",
  "eth_chainId",
  "wallet_switchEthereumChain",
  "wallet_addEthereumChain",
  "eth_call",
  "eth_estimateGas",
  "eth_sendTransaction",
  // What became of the transfer that it has sent.
  "eth_getTransactionByHash",
  "eth_getTransactionReceipt",
];

describe("a payer at the checkout page", { skip }, () => {
  const world = useDevWorld();
  let browser: Browser;

  before(async () => {
    browser = await sharedBrowser();
  });

  async function createIntent() {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    return api.createPaymentIntent({ priceUnits: PRICE, oneTime: true });
  }

  async function withPage(use: (page: Page, context: BrowserContext) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    try {
      await use(page, context);
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  }

  async function openReady(page: Page, intent: Awaited<ReturnType<typeof createIntent>>): Promise<void> {
    await page.goto(`${intent.checkoutUrl}#${intent.widgetToken}`);
    await page.locator("main[data-screen=choose], main[data-screen=ready]").waitFor({ timeout: WAIT_MS });
    const first = page.locator(".opt.first");
    if (await first.isVisible()) await first.click();
    await screen(page, "ready");
  }

  /** Sends tokens on the first chain, as another wallet of the payer would. */
  async function transfer(to: string, symbol: string, amount: string): Promise<void> {
    const { chains, payer } = world.dev.ready;
    const [chain] = chains;
    const token = chain?.tokens.find((each) => each.symbol === symbol);
    assert.ok(chain && token);
    const account = privateKeyToAccount(payer.privateKey as Hex);
    const client = createWalletClient({ account, transport: http(chain.rpcUrl) });
    const units = BigInt(amount) * 10n ** BigInt(token.decimals);
    const reader = createPublicClient({ transport: http(chain.rpcUrl) });
    const data = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [to as Hex, units] });
    const call = { to: token.address as Hex, data };
    const gas = (await reader.estimateGas({ account, ...call })) * GAS_MARGIN;
    const hash = await client.sendTransaction({ ...call, gas, chain: null });
    const { status } = await reader.waitForTransactionReceipt({ hash });
    assert.equal(status, "success");
  }

  test("pays with a wallet in the browser: one plain transfer, on a chain that the wallet did not know", async () => {
    const intent = await createIntent();
    await withPage(async (page) => {
      const wallet = new TestWallet(world.dev.ready.payer.privateKey);
      await wallet.install(page, "Test Wallet");
      await openReady(page, intent);
      wallet.refusesNext = "eth_sendTransaction";
      await page.getByText("Pay with Test Wallet").click();
      await page.getByText("Test Wallet did not send it. Nothing was paid").waitFor({ timeout: WAIT_MS });
      await page.getByText("Pay with Test Wallet").click();
      await screen(page, "paid");
      const asked = [...new Set(wallet.calls.map(({ method }) => method))];
      assert.deepEqual(
        asked.filter((method) => !ALLOWED_CALLS.includes(method)),
        [],
      );
      const sent = wallet.calls.filter(({ method }) => method === "eth_sendTransaction");
      const [call] = (sent.at(-1)?.params ?? []) as [{ to: string; value?: string; data: string }];
      assert.equal(call.value, undefined, "no coin of the chain");
      assert.equal(call.to.toLowerCase(), intent.payout.tokenAddress.toLowerCase());
      const recipient = intent.inboxAddress.slice(2).toLowerCase().padStart(64, "0");
      assert.equal(call.data, `0xa9059cbb${recipient}${PRICE.toString(16).padStart(64, "0")}`);
    });
  });

  test(
    "pays while a sweep empties the inbox between the wallet's estimate and the transfer",
    { skip: onlyDeep },
    async () => {
      const intent = await createIntent();
      await withPage(async (page) => {
        const wallet = new TestWallet(world.dev.ready.payer.privateKey);
        // It holds money, as an inbox does before the sweep; the inbox of the payment is empty.
        const like = `0x${"5a".repeat(20)}`;
        wallet.estimatesAs = { inbox: intent.inboxAddress, like };
        await transfer(like, "USDC", "1");
        await wallet.install(page, "Test Wallet");
        await openReady(page, intent);
        await page.getByText("Pay with Test Wallet").click();
        await screen(page, "paid");
      });
    },
  );

  test("pays in parts and too much, with a reload and a lost connection between", async () => {
    const intent = await createIntent();
    await withPage(async (page, context) => {
      await openReady(page, intent);
      await transfer(intent.inboxAddress, "USDC", "20");
      await screen(page, "underpaid");
      assert.equal(await heading(page), "Send 5.00 USDC more");
      await page.reload();
      await screen(page, "underpaid");
      await context.setOffline(true);
      await page.locator(".banner").getByText("No connection.").waitFor({ timeout: WAIT_MS });
      assert.equal(await heading(page), "Send 5.00 USDC more", "the page stays right without a connection");
      await transfer(intent.inboxAddress, "USDC", "7");
      await context.setOffline(false);
      await screen(page, "overpaid");
      assert.equal(await heading(page), "Paid, with 2.00 USDC too much");
      assert.equal(await page.locator("[data-deposit=counted]").count(), 2);
    });
  });

  test("sends the wrong coin: the page says so, and how to finish", { skip: onlyDeep }, async () => {
    const intent = await createIntent();
    await withPage(async (page) => {
      await openReady(page, intent);
      await transfer(intent.inboxAddress, "DUSD", "25");
      await screen(page, "held");
      assert.equal(await heading(page), "Your 25.00 DUSD is on hold");
      await page.getByText("It is DUSD, and this payment takes USDC.").waitFor();
      await page.locator("[data-do=pay]").click();
      await screen(page, "ready");
      await transfer(intent.inboxAddress, "USDC", "25");
      await screen(page, "paid");
    });
  });
});

async function screen(page: Page, name: string): Promise<void> {
  await page.locator(`main[data-screen="${name}"]`).waitFor({ timeout: WAIT_MS });
}

async function heading(page: Page): Promise<string> {
  return (await page.locator("h1").innerText()).replaceAll("\u00a0", " ");
}
