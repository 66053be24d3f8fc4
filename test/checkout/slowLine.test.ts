import assert from "node:assert/strict";
import { before, test } from "node:test";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { SAMPLES } from "../../packages/checkout/test/samples.ts";
import { SeededRandom } from "../sim/seededRandom.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { randomLine, serveSlowSample, type SlowLine } from "../support/slowSamples.ts";

// The page on lines that cut and delay the document: it always ends drawn, or says what to do.

const skip = skipWithoutChromium;
const LOADS = Number(process.env["SLOW_LOADS"] ?? 6);
const WAIT_MS_MAX = 700;

let browser: Browser | undefined;

before(async () => {
  if (skip === false) browser = await sharedBrowser();
});

async function withSample(line: () => SlowLine, use: (page: Page, url: string) => Promise<void>): Promise<void> {
  assert.ok(browser);
  const sample = SAMPLES.get("ready");
  assert.ok(sample);
  const context = await browser.newContext({ viewport: { width: 390, height: 780 } });
  const { url, close } = await serveSlowSample(sample, line);
  try {
    await use(await context.newPage(), url);
  } finally {
    await context.close();
    await close();
  }
}

/** Only the script checks the address. */
const drawn = (page: Page) => page.locator(".ok").waitFor({ timeout: 20_000 });

test("a document whose end comes seconds after its head is drawn", { skip }, async () => {
  const line = {
    pieces: [
      { share: 0.9, waitMs: 0 },
      { share: 1, waitMs: 4_000 },
    ],
    scriptMs: 0,
  };
  await withSample(
    () => line,
    async (page, url) => {
      await page.goto(url, { waitUntil: "commit" });
      await drawn(page);
      assert.equal(await page.locator("#slow").count(), 0);
    },
  );
});

test(
  `${LOADS} loads on lines that cut and delay the document at random places: none stays dead`,
  { skip },
  async () => {
    const random = new SeededRandom(process.env["SLOW_SEED"] ?? "slow line");
    let line = randomLine(random, WAIT_MS_MAX);
    await withSample(
      () => line,
      async (page, url) => {
        for (let load = 0; load < LOADS; load += 1) {
          line = randomLine(random, WAIT_MS_MAX);
          await page.goto(url, { waitUntil: "commit" });
          await drawn(page).catch((error: unknown) => {
            assert.fail(`load ${load} on ${JSON.stringify(line)}: ${String(error)}`);
          });
        }
      },
    );
  },
);

test("a page that nothing draws says what to do after ten seconds, and reloads by a button", { skip }, async () => {
  let line: SlowLine = { pieces: [{ share: 1, waitMs: 0 }], scriptMs: 60_000 };
  await withSample(
    () => line,
    async (page, url) => {
      await page.goto(url, { waitUntil: "commit" });
      await page.locator("#slow").getByText("The page takes longer than usual.").waitFor();
      assert.ok(await page.locator("#address").isVisible(), "amount and address are there without the script");
      line = { pieces: [{ share: 1, waitMs: 0 }], scriptMs: 0 };
      await page.locator("#slow button").click();
      await drawn(page);
      assert.equal(await page.locator("#slow").count(), 0);
    },
  );
});
