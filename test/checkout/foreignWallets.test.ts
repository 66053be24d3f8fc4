import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { createWallet, installMockWallet } from "@johanneskares/wallet-mock";
import { injectHeadlessWeb3Provider, Web3RequestKind as kinds } from "headless-web3-provider/dist/module.mjs";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import type { Browser, Page } from "playwright-core";
import { defineChain, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { buildPaymentRequestUri } from "../../packages/checkout/src/paymentUri.ts";
import { createKeypair } from "../../packages/local-solana/src/keypairs.ts";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { createSolanaPayer } from "../../src/operator/client/solanaPayer.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { bundlePage } from "../support/bundlePage.ts";
import { installBurnerWallet } from "../support/burnerWallet.ts";
import { evmChains, solanaOf, solanaPayout, useDevWorld } from "../support/devWorld.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { drawBytes } from "../support/drawBytes.ts";

// Wallets of other authors pay in Chromium, against the dev world: none of their code is ours.

const WAIT_MS = 120_000;
const PRICE = 25_000_000;
const MINUTE_MS = 60_000;
const LAMPORTS = 1_000_000_000;

describe("a payer with a wallet of another author", { skip: skipWithoutChromium }, () => {
  const world = useDevWorld();
  let browser: Browser;

  before(async () => {
    browser = await sharedBrowser();
  });

  async function createIntent(payout = {}) {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    return api.createPaymentIntent({ priceUnits: PRICE, oneTime: true, ...payout });
  }

  /** Opens the page of a new intent, ready to pay on its own chain. */
  async function withReadyPage(
    intent: Awaited<ReturnType<typeof createIntent>>,
    { install, use }: { install: (page: Page) => Promise<void>; use: (page: Page) => Promise<void> },
  ): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    try {
      await install(page);
      await page.goto(`${intent.checkoutUrl}#${intent.widgetToken}`);
      await page.locator("main[data-screen=choose], main[data-screen=ready]").waitFor({ timeout: WAIT_MS });
      const first = page.locator(".opt.first");
      if (await first.isVisible()) await first.click();
      await page.locator(".ok").getByText("Checked on your device").waitFor({ timeout: WAIT_MS });
      await use(page);
      await page.locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  }

  /** The chains of the intents' payout, and another one. */
  function chains() {
    const [own, other] = evmChains(world.dev);
    assert.ok(own && other);
    return { own, other };
  }

  const payerKey = () => `0x${world.dev.ready.payer.privateKey.replace(/^0x/, "")}` as const satisfies Hex;

  test("headless-web3-provider, on a chain of its own: refuses, then adds the network, changes to it and pays", async () => {
    const { other } = chains();
    const permitted = [kinds.RequestAccounts, kinds.SwitchEthereumChain, kinds.AddEthereumChain];
    let wallet: Awaited<ReturnType<typeof injectHeadlessWeb3Provider>> | undefined;
    await withReadyPage(await createIntent(), {
      install: async (page) => {
        const { chainId, rpcUrl } = other;
        wallet = await injectHeadlessWeb3Provider(page, [payerKey()], chainId, rpcUrl, { permitted });
      },
      use: async (page) => {
        const press = () => page.getByText("Pay with Headless Web3 Provider").click({ timeout: WAIT_MS });
        await press();
        await page.getByText("Now confirm in Headless Web3 Provider.").waitFor({ timeout: WAIT_MS });
        // Its refusal reaches the page without a code.
        await wallet?.reject(kinds.SendTransaction);
        await page.getByText("We do not know yet whether").first().waitFor({ timeout: WAIT_MS });
        assert.equal(await page.getByText("Nothing was paid").count(), 0);
        await page.clock.setFixedTime(Date.now() + 11 * MINUTE_MS);
        await page.reload();
        await page.locator("#deny").click({ timeout: WAIT_MS });
        await press();
        await page.getByText("Now confirm in Headless Web3 Provider.").waitFor({ timeout: WAIT_MS });
        await wallet?.authorize(kinds.SendTransaction);
      },
    });
  });

  test("@johanneskares/wallet-mock pays on the chain that it is on", async () => {
    const { own } = chains();
    const chain = defineChain({
      id: own.chainId,
      name: own.name,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [own.rpcUrl] } },
    });
    const wallet = createWallet(privateKeyToAccount(payerKey()), { [own.chainId]: http(own.rpcUrl) }, chain);
    await withReadyPage(await createIntent(), {
      install: (page) => installMockWallet({ page, wallet }),
      use: (page) => page.getByText("Pay with Mock Wallet").click(),
    });
  });

  test("@solana/wallet-adapter-unsafe-burner signs a transfer on Solana, and the page sends it", async () => {
    const { rpcUrl, tokens } = solanaOf(world.dev);
    const mint = tokens.find(({ symbol }) => symbol === "USDC")?.address ?? "";
    const { address: payoutWallet } = createKeypair(drawBytes(32));
    let readAddress: (() => Promise<string>) | undefined;
    await withReadyPage(await createIntent({ ...solanaPayout(world.dev), payoutWallet }), {
      install: async (page) => {
        readAddress = await installBurnerWallet(page);
      },
      use: async (page) => {
        const address = (await readAddress?.()) ?? "";
        await callRpc(rpcUrl, "requestAirdrop", address, LAMPORTS);
        const payer = await createSolanaPayer({ rpcUrl, privateKey: world.dev.ready.solana.payer.privateKey });
        await payer.transfer(mint, address, BigInt(PRICE));
        await page.getByText("Pay with Burner Wallet").click();
      },
    });
  });

  test("a wallet with the SDK of Solana Pay reads the page's code, and pays with the transaction that the link gives", async (t) => {
    const { rpcUrl } = solanaOf(world.dev);
    const seed = Array.from(decodeBase58(world.dev.ready.solana.payer.privateKey)?.subarray(0, 32) ?? []);
    const intent = await createIntent(solanaPayout(world.dev));
    const link = `${intent.checkoutUrl}/solana-pay`;
    // Another origin than the service's.
    const site = createServer((_request, response) => response.setHeader("content-type", "text/html").end());
    await once(site.listen(0, "127.0.0.1"), "listening");
    t.after(() => site.close());
    const { port } = site.address() as AddressInfo;
    await withReadyPage(intent, {
      install: async () => undefined,
      use: async (page) => {
        const wallet = await page.context().newPage();
        await wallet.addInitScript(await bundlePage("solanaPayPage.ts"));
        await wallet.goto(`http://127.0.0.1:${port}`);
        const call = (name: string, input: unknown) => wallet.evaluate<string>(`${name}(${JSON.stringify(input)})`);
        // Codes of a service that is open to payers have https: the SDK reads no other link.
        const secure = link.replace(/^http:/, "https:");
        assert.equal(await call("readLink", buildPaymentRequestUri(secure)), secure);
        await call("payByLink", { link, rpcUrl, seed });
      },
    });
  });
});

async function callRpc(url: string, method: string, ...params: readonly unknown[]): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { error } = (await (await fetch(url, { method: "POST", headers, body })).json()) as { error?: unknown };
  assert.equal(error, undefined);
}
