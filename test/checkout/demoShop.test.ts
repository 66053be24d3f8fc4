import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { useDevWorld } from "../support/devWorld.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The demo shop, as `npm start` serves it: a payer presses one button, and the money arrives in the shop's wallet. With
// DEMO_IMAGES=<folder> the test also writes the pictures of the README.

const WAIT_MS = 120_000;
const IMAGES = process.env["DEMO_IMAGES"];

describe("the demo shop", { skip: skipWithoutChromium }, () => {
  const world = useDevWorld();
  let browser: Browser;

  before(async () => {
    browser = await sharedBrowser();
  });

  async function withShop(query: string, use: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1_180, height: 860 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    try {
      await page.goto(`${world.dev.ready.baseUrl}/demo${query}`);
      await use(page);
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  }

  async function payInFrame(page: Page, image: string): Promise<void> {
    const frame = page.frameLocator("iframe");
    await frame.locator("main[data-screen=choose], main[data-screen=ready]").first().waitFor({ timeout: WAIT_MS });
    const first = frame.locator(".opt.first");
    if (await first.isVisible()) await first.click();
    const pay = frame.getByText("Pay with Demo Wallet");
    await pay.waitFor({ timeout: WAIT_MS });
    await picture(page, image);
    await pay.click();
    await frame.locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
  }

  async function waitForArrival(page: Page): Promise<void> {
    const done = page.locator("#done").getByText(/has arrived in the shop's wallet/);
    await done.waitFor({ timeout: WAIT_MS });
  }

  async function picture(page: Page, name: string): Promise<void> {
    if (IMAGES !== undefined) await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  }

  test("one click pays over the page, and the money arrives in the shop's wallet", async () => {
    await withShop("", async (page) => {
      await page.locator("#balance").getByText("USDC").waitFor({ timeout: WAIT_MS });
      await assertAccessible(page);
      await picture(page, "demo-shop");
      await page.locator("#buy").click();
      await waitForArrival(page);
      await page.frameLocator("iframe").locator("main[data-screen=paid]").waitFor({ timeout: WAIT_MS });
      await picture(page, "demo-paid");
      await page.getByRole("button", { name: "Close" }).click();
      assert.equal(await page.locator("#done").innerText(), "Thank you! 24.875 USDC has arrived in the shop's wallet.");
      assert.match(
        await page.locator("#delivery").innerText(),
        /^The shop's webhook said so: (payment_intent\.settled|settlement\.landed) \(evt_\w+\), \d+ ms after the change\.$/,
      );
      await picture(page, "demo-settled");
    });
  });

  test("in the page and on a phone, one click pays too", { skip: onlyDeep }, async () => {
    await withShop("", async (page) => {
      await page.getByLabel("in this page").check();
      await page.locator("#buy").click();
      await waitForArrival(page);
      await assertAccessible(page);
    });
    await withShop("", async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await picture(page, "demo-phone");
      await page.locator("#buy").click();
      await waitForArrival(page);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    });
  });

  test("without paying at once, the wallet is one that the checkout offers", { skip: onlyDeep }, async () => {
    await withShop("", async (page) => {
      await page.getByLabel("Pays at once").uncheck();
      await page.locator("#buy").click();
      await payInFrame(page, "demo-modal");
      await waitForArrival(page);
    });
  });

  test(
    "on Solana one click pays too, and the wallet is one that the checkout in the frame offers",
    { skip: onlyDeep },
    async () => {
      await withShop("?network=solana", async (page) => {
        await page.locator("#network").getByText("Dev Solana").waitFor({ timeout: WAIT_MS });
        await page.locator("#balance").getByText("USDC").waitFor({ timeout: WAIT_MS });
        await assertAccessible(page);
        const before = await page.locator("#balance").innerText();
        await page.locator("#buy").click();
        await waitForArrival(page);
        assert.equal(
          await page.locator("#done").innerText(),
          "Thank you! 24.875 USDC has arrived in the shop's wallet.",
        );
        await page.getByRole("button", { name: "Close" }).click();
        await page.locator("#balance", { hasNotText: before }).waitFor({ timeout: WAIT_MS });
        await page.getByLabel("Pays at once").uncheck();
        await page.locator("#buy").click();
        await payInFrame(page, "demo-solana");
        await waitForArrival(page);
        await page.getByRole("button", { name: "Close" }).click();
        await page.locator("#more").click();
        await page
          .locator("#balance")
          .getByText(/^10,000,950\.00 USDC$/)
          .waitFor({ timeout: WAIT_MS });
      });
    },
  );

  test("the wallet gets more money, and the checkout opens on its own page", { skip: onlyDeep }, async () => {
    await withShop("?mode=redirect", async (page) => {
      const balance = page.locator("#balance");
      await balance.getByText("USDC").waitFor({ timeout: WAIT_MS });
      const before = await balance.innerText();
      await page.locator("#more").click();
      const changed = page.locator("#balance", { hasNotText: before });
      await changed.waitFor({ timeout: WAIT_MS });
      await page.locator("#buy").click();
      await page.locator("main[data-screen=choose], main[data-screen=ready]").first().waitFor({ timeout: WAIT_MS });
      assert.match(page.url(), /\/c\/pi_\w+$/);
    });
  });
});
