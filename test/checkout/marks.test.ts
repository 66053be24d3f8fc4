import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { useDevWorld } from "../support/devWorld.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { onlyDeep } from "../support/runNumber.ts";

// Marks of networks and coins: letters until their file has come, under the policy of the service as it is started.

const WAIT_MS = 60_000;
const VIOLATIONS = `window.violations = [];
  addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));`;

describe("marks of networks and coins", { skip: skipWithoutChromium }, () => {
  const world = useDevWorld();
  let browser: Browser;
  before(async () => {
    browser = await sharedBrowser();
  });

  async function withChoice(
    options: { colorScheme?: "dark" | "light"; answer: (page: Page) => Promise<unknown> },
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    const { checkoutUrl, widgetToken } = await api.createPaymentIntent({ priceUnits: 25_000_000, oneTime: true });
    const context = await browser.newContext({ colorScheme: options.colorScheme ?? "light" });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    try {
      await page.addInitScript(VIOLATIONS);
      await options.answer(page);
      await page.goto(`${checkoutUrl}#${widgetToken}`);
      await page.locator(".opt .mark").first().waitFor({ timeout: WAIT_MS });
      await use(page);
      assert.deepEqual([errors, await page.evaluate("violations")], [[], []]);
    } finally {
      await context.close();
    }
  }

  const lettersOf = (page: Page) => page.locator(".opt .mark").allTextContents();
  const pathsOf = (page: Page, kind: string) =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll(".opt .${kind} path")].map((path) => path.getAttribute("d"))`,
    );

  test("letters stand until the file has come, which is asked for after the first paint", async () => {
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const answer = (page: Page) =>
      page.route("**/marks.svg", async (route) => {
        asked.resolve();
        await held.promise;
        await route.continue();
      });
    await withChoice({ answer }, async (page) => {
      await asked.promise;
      assert.ok((await lettersOf(page)).every((letter) => letter === "D"));
      assert.equal(await page.locator(".mark svg").count(), 0);
      held.resolve();
      await page.locator(".opt .glyph").first().waitFor({ timeout: WAIT_MS });
      const options = await page.locator(".opt").count();
      const [glyphs, coins] = [await pathsOf(page, "glyph"), await pathsOf(page, "coin")];
      assert.deepEqual([glyphs.length, coins.length], [options, options]);
      assert.deepEqual([new Set(glyphs).size > 1, new Set(coins).size > 1], [true, true]);
      const [paintedAt, askedAt] = await page.evaluate<[number, number]>(
        `[performance.getEntriesByName("first-paint")[0].startTime,
          performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/marks.svg")).startTime]`,
      );
      assert.ok(paintedAt <= askedAt, `painted at ${paintedAt} ms, asked at ${askedAt} ms`);
    });
  });

  test("marks have the colour of the text, in the dark and in the light", { skip: onlyDeep }, async () => {
    const colours: string[] = [];
    for (const colorScheme of ["dark", "light"] as const)
      await withChoice({ colorScheme, answer: async () => undefined }, async (page) => {
        await page.locator(".opt .glyph").first().waitFor({ timeout: WAIT_MS });
        const [fill = "", colour] = await page.evaluate<string[]>(
          `[getComputedStyle(document.querySelector(".opt .glyph path")).fill,
            getComputedStyle(document.querySelector(".opt b")).color]`,
        );
        assert.equal(fill, colour);
        colours.push(fill);
      });
    assert.equal(new Set(colours).size, 2);
  });

  test("letters stay where the file does not come", { skip: onlyDeep }, async () => {
    for (const status of [0, 503]) {
      const failed = Promise.withResolvers<void>();
      const answer = (page: Page) =>
        page.route("**/marks.svg", async (route) => {
          await (status === 0
            ? route.abort()
            : route.fulfill({ status, body: '<symbol id="on-dev"><path d="M0 0" />' }));
          failed.resolve();
        });
      await withChoice({ answer }, async (page) => {
        await failed.promise;
        await page.evaluate("new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 200))");
        assert.ok((await lettersOf(page)).every((letter) => letter === "D"));
        assert.equal(await page.locator(".mark svg").count(), 0);
      });
    }
  });
});
