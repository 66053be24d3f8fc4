import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, type TributaryClient } from "@tributary/client";
import type { Browser, Page } from "playwright-core";
import { pollUntil, readViaApi } from "../../src/operator/client/intentSnapshot.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { evmChains, useDevWorld } from "../support/devWorld.ts";
import { openMerchantSite, type MerchantSite } from "../support/merchantSite.ts";
import { TestWallet } from "../support/testWallet.ts";
import { onlyDeep } from "../support/runNumber.ts";

// A shop on an origin of its own embeds the checkout of the dev world, and a wallet of the shop's page pays on a real
// chain.

const WAIT_MS = 120_000;
const PRICE = 25_000_000;
const POLL_MS = 600;

type Event = [name: string, content: string];

describe("a payer at a shop that embeds the checkout", { skip: skipWithoutChromium }, () => {
  const world = useDevWorld();
  let browser: Browser;
  let shop: MerchantSite;
  let tributary: TributaryClient;

  before(async () => {
    browser = await sharedBrowser();
    shop = await openMerchantSite();
    const { baseUrl, accounts } = world.dev.ready;
    tributary = createClient({ baseUrl, apiKey: accounts[0]?.apiKey });
  });
  after(async () => {
    await shop.close();
  });

  /** Opens the shop's page with the checkout of a new intent in it, and a wallet that reaches no frame. */
  async function withShop(
    wallet: TestWallet,
    use: (page: Page, intentId: string) => Promise<void>,
    mode = "inline",
  ): Promise<void> {
    const { intentId } = await tributary.createPaymentIntent({ priceUnits: PRICE, oneTime: true });
    const target = mode === "inline" ? ', target: "#pay"' : "";
    shop.html = `<!doctype html><html lang="en"><title>A shop</title><h1>Shop</h1><div id="pay"></div><script>window.events = []</script>
      <script type="module">
        import { mount } from "${world.dev.ready.baseUrl}/sdk/v1.js";
        const note = (name) => (event) => window.events.push([name, event.stage ?? event.code ?? ""]);
        mount({ intentId: "${intentId}"${target}, onReady: note("ready"), onStatus: note("status"), onPaid: note("paid"), onError: note("error") });
      </script>`;
    const context = await browser.newContext({ viewport: { width: 1_180, height: 860 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await wallet.install(page, "Test Wallet", { isInFrames: false });
    try {
      await page.goto(shop.origin);
      await use(page, intentId);
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  }

  /** Chooses the first origin where there is a choice, and presses the wallet's button. */
  async function pay(place: Pick<Page, "locator" | "getByText">): Promise<void> {
    await place.locator("main[data-screen=choose], main[data-screen=ready]").first().waitFor({ timeout: WAIT_MS });
    const first = place.locator(".opt.first");
    if (await first.isVisible()) await first.click();
    const button = place.getByText("Pay with Test Wallet");
    await button.waitFor({ timeout: WAIT_MS });
    await button.click();
  }

  const inFrame = (page: Page) => page.frameLocator("iframe") as unknown as Pick<Page, "locator" | "getByText">;
  const eventsOf = (page: Page) => page.evaluate("window.events") as Promise<Event[]>;
  const newWallet = () => new TestWallet(world.dev.ready.payer.privateKey);

  function newWalletWithChain(): TestWallet {
    const wallet = newWallet();
    for (const { chainId, rpcUrl } of evmChains(world.dev)) wallet.addChain(chainId, rpcUrl);
    return wallet;
  }

  async function waitForSettled(intentId: string): Promise<void> {
    const { intent, settlements } = await pollUntil(
      () => readViaApi(tributary)(intentId),
      ({ intent: { status, amounts } }) => status === "settled" && amounts.settledUnits === String(PRICE),
      { description: `Settling ${intentId}`, timeoutMs: WAIT_MS, intervalMs: POLL_MS },
    );
    assert.deepEqual([intent.paymentStatus, settlements.length], ["paid", 1]);
  }

  test("D19, D45 the frame opens once the merchant's key has listed the shop, and not before", async () => {
    await withShop(newWallet(), async (page) => {
      await page.waitForFunction("window.events.length > 0", undefined, { timeout: WAIT_MS });
      assert.deepEqual(await eventsOf(page), [["error", "wrong_origin"]]);
    });
    assert.deepEqual(await tributary.replacePageOrigins({ origins: [shop.origin] }), { origins: [shop.origin] });
    await withShop(newWallet(), async (page) => {
      await inFrame(page)
        .locator("main[data-screen=choose], main[data-screen=ready]")
        .first()
        .waitFor({ timeout: WAIT_MS });
      // The frame tells the page by messages, which may arrive later than the frame has drawn itself.
      await page.waitForFunction("window.events.length > 1", undefined, { timeout: WAIT_MS });
      assert.deepEqual(await eventsOf(page), [
        ["ready", ""],
        ["status", "waiting"],
      ]);
    });
  });

  for (const mode of ["inline", "modal"]) {
    test(`D39 ${mode}: a wallet of the shop's page pays in the frame of another origin, and the money is settled`, async () => {
      const wallet = newWalletWithChain();
      await withShop(
        wallet,
        async (page, intentId) => {
          // It estimates as for an inbox that holds money, which a sweep takes before the transfer runs.
          const { inboxAddress: inbox } = await tributary.getPaymentIntent(intentId);
          wallet.estimatesAs = { inbox, like: world.dev.ready.payer.address };
          await pay(inFrame(page));
          await inFrame(page).locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
          await page.waitForFunction("window.events.some(([name]) => name === 'paid')", undefined, {
            timeout: WAIT_MS,
          });
          const events = await eventsOf(page);
          assert.deepEqual(events[0], ["ready", ""]);
          assert.deepEqual(
            events.filter(([name]) => name === "paid"),
            [["paid", "paid"]],
          );
          await waitForSettled(intentId);
          assert.deepEqual(
            wallet.calls.map(({ method }) => method),
            ["eth_requestAccounts", "wallet_switchEthereumChain", "eth_estimateGas", "eth_sendTransaction"],
          );
        },
        mode,
      );
    });
  }

  test(
    "D39 a wallet of the shop's page that does not know the network: the checkout opens on top, adds it and pays",
    { skip: onlyDeep },
    async () => {
      const wallet = newWallet();
      await withShop(wallet, async (page, intentId) => {
        await pay(inFrame(page));
        await page.waitForURL(`${world.dev.ready.baseUrl}/c/${intentId}**`, { timeout: WAIT_MS });
        assert.deepEqual(
          wallet.calls.map(({ method }) => method),
          ["eth_requestAccounts", "wallet_switchEthereumChain"],
        );
        wallet.calls.length = 0;
        await pay(page);
        await page.locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
        const methods = wallet.calls.map(({ method }) => method);
        assert.ok(methods.indexOf("wallet_addEthereumChain") > methods.indexOf("wallet_switchEthereumChain"));
        await waitForSettled(intentId);
      });
    },
  );

  test(
    "a wallet that refuses to add the network: the page says that nothing was paid, and the next try pays",
    { skip: onlyDeep },
    async () => {
      const wallet = newWallet();
      await withShop(wallet, async (page, intentId) => {
        await pay(inFrame(page));
        await page.waitForURL(`${world.dev.ready.baseUrl}/c/${intentId}**`, { timeout: WAIT_MS });
        wallet.refusesNext = "wallet_addEthereumChain";
        await pay(page);
        await page.getByText("Test Wallet did not send it. Nothing was paid").waitFor({ timeout: WAIT_MS });
        assert.equal(
          wallet.calls.some(({ method }) => method === "eth_sendTransaction"),
          false,
        );
        await pay(page);
        await page.locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
      });
    },
  );
});
