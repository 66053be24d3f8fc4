import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import process from "node:process";
import { before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { openSample, SCREENS } from "../support/checkoutSamples.ts";

// axe on the screens of the checkout page. `npm test` takes a sample; with CHECKOUT_SCREENS=all every screen is tested
// in both themes, and left to right and right to left.

const isDeep = process.env["CHECKOUT_SCREENS"] === "all";
/** Each has another way to be drawn. */
const QUICK = { light: ["ready", "choose", "wrongToken", "refused"], dark: ["underpaid", "seen", "paid", "offline"] };
const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const PHONE_WIDTH = 320;
/** Fewer would mean that axe looked at an empty page. */
const RULES_MIN = 10;

type Violation = { id: string; help: string; nodes: { html: string; failureSummary: string }[] };

let browser: Browser | undefined;

before(async () => {
  if (skipWithoutChromium === false) browser = await sharedBrowser();
});

for (const locale of ["en", "ar"]) {
  for (const theme of ["light", "dark"] as const) {
    if (!isDeep && (locale === "en") !== (theme === "light")) continue;
    test(`no screen has a violation: ${locale}, ${theme}`, { skip: skipWithoutChromium }, async () => {
      assert.ok(browser);
      const context = await browser.newContext({
        viewport: { width: PHONE_WIDTH, height: 800 },
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      for (const name of isDeep ? SCREENS : QUICK[theme]) {
        await openSample(page, name, { locale, theme });
        assert.deepEqual(await runAxe(page), [], name);
        const width = await page.evaluate<number>("document.documentElement.scrollWidth");
        assert.ok(width <= PHONE_WIDTH, `${name} is ${width} px wide at ${PHONE_WIDTH} px`);
      }
      await context.close();
    });
  }
}

async function runAxe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate<{ violations: Violation[]; passes: unknown[] }>("axe.run()");
  assert.ok(passes.length >= RULES_MIN, `only ${passes.length} rules found something to test`);
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join("\n")}`,
  );
}
