import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Request } from "playwright-core";
import { buildSdk } from "../../packages/sdk/scripts/buildSdk.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { events, inFrame, useShops, waitForEvent } from "../support/shopPage.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The SDK's served scripts in a merchant's page, with the service on another origin.

const skip = skipWithoutChromium;
const shops = useShops();
const WAIT_MS = 120_000;
/** The frame takes the payment on a test network for one with real money. */
const REAL_MONEY = `if (parent !== window) {
  const { parse } = JSON;
  JSON.parse = (text) => parse(text.replaceAll('"isTest":true', '"isTest":false'));
  Response.prototype.json = async function () { return JSON.parse(await this.text()); };
}`;

test("the served scripts are those of the sources, and any origin may read them", async () => {
  const served = {
    "v1.generated.js": "v1.js",
    "v1.global.generated.js": "v1.global.js",
    "v1.element.generated.js": "v1.element.js",
  };
  const built = await buildSdk();
  for (const [file, name] of Object.entries(served)) {
    const response = await shops.api.send(`/sdk/${name}`);
    assert.equal(response.status, 200);
    assert.equal(response.headers["access-control-allow-origin"], "*");
    assert.equal(response.text, built[file], `${file} is stale: npm run served -w packages/sdk`);
    assert.equal(readFileSync(new URL(`../../packages/sdk/${file}`, import.meta.url), "utf8"), `${built[file]}\n`);
  }
});

test(
  "D39 inline: the frame shows the payment, follows its height, and reports ready and status",
  { skip },
  async () => {
    const { intentId } = await shops.createIntent();
    await shops.withPage(
      `window.checkout = mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
      async (page, lines) => {
        await waitForEvent(page, "status");
        assert.deepEqual(await events(page), [
          ["ready", ""],
          ["status", "waiting"],
        ]);
        await inFrame(page).locator("main[data-screen]").waitFor();
        assert.match(String(await page.locator("iframe").getAttribute("title")), /5\.00/);
        await page.waitForFunction("parseInt(document.querySelector('iframe').style.height) !== 640");
        const height = Number.parseInt(
          String(await page.evaluate("document.querySelector('iframe').style.height")),
          10,
        );
        assert.ok(height >= 320 && height <= 2_400, String(height));
        assert.equal(new URL(page.frames()[1]?.url() ?? "").hash, "");
        await assertAccessible(page);
        await page.evaluate("window.checkout.unmount(); window.checkout.unmount()");
        assert.equal(await page.locator("iframe").count(), 0);
        assert.deepEqual(lines, []);
      },
    );
  },
);

test("D39 an unlisted site gets an error event and no frame", { skip }, async () => {
  const { intentId } = await shops.createIntent();
  await shops.withPage(
    `mount({ intentId: "${intentId}", ...handlers });`,
    async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", "wrong_origin"]]);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    { site: shops.evil },
  );
});

test("a wrong id and a service that is away have codes of their own", { skip }, async () => {
  for (const [intentId, baseUrl, code] of [
    ["pi_00000000000000000000000000", "", "wrong_intent"],
    ["pi_00000000000000000000000000", `baseUrl: "http://127.0.0.1:9",`, "not_opened"],
  ])
    await shops.withPage(`mount({ intentId: "${intentId}", ${baseUrl} ...handlers });`, async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", code]]);
    });
});

test("D39 messages of other windows and other origins change nothing", { skip }, async () => {
  const { intentId } = await shops.createIntent();
  const script = `mount({ intentId: "${intentId}", target: "#pay", ...handlers });`;
  await shops.withPage(script, async (page) => {
    await waitForEvent(page, "status");
    await inFrame(page).locator("main[data-screen]").waitFor();
    await page.evaluate(`{
      const { style } = document.querySelector("iframe");
      window.heights = [];
      new MutationObserver(() => window.heights.push(parseInt(style.height))).observe(
        document.querySelector("iframe"), { attributes: true });
    }`);
    // The shop's own window, then a frame of another origin, posts what the checkout's frame would.
    await page.evaluate(`postMessage({ type: "tributary:status", stage: "paid" }, "*")`);
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.onload = resolve;
      frame.src = ${JSON.stringify(shops.evil.origin)};
      document.body.append(frame);
    })`);
    const foreign = page.frames().find((frame) => frame.url().startsWith(shops.evil.origin));
    assert.ok(foreign);
    await foreign.evaluate(`parent.postMessage({ type: "tributary:status", stage: "paid" }, "*");
      parent.postMessage({ type: "tributary:size", height: 1 }, "*");
      parent.frames[0].postMessage({ type: "tributary:announce", uuid: "x", name: "Forged Wallet" }, "*")`);
    // Sizes beyond the bounds, from the right window.
    const checkout = page.frames().find((frame) => frame.url().startsWith(shops.base));
    assert.ok(checkout);
    await checkout.evaluate(
      `parent.postMessage({ type: "tributary:size", height: 9e9 }, ${JSON.stringify(shops.shop.origin)})`,
    );
    await page.waitForFunction("window.heights.includes(2400)");
    assert.equal(await page.evaluate("window.heights.includes(320)"), false);
    assert.deepEqual(await events(page), [
      ["ready", ""],
      ["status", "waiting"],
    ]);
    assert.equal(await inFrame(page).first().getByText("Forged Wallet").count(), 0);
  });
});

test(
  "D39 modal: focus goes in and comes back, Esc closes from both sides, the page behind is inert",
  { skip },
  async () => {
    const { intentId } = await shops.createIntent();
    const script = `document.querySelector("#buy").onclick = () => mount({ intentId: "${intentId}", ...handlers });`;
    await shops.withPage(script, async (page) => {
      const buy = page.locator("#buy");
      await buy.focus();
      await page.keyboard.press("Enter");
      await waitForEvent(page, "ready");
      const dialog = page.getByRole("dialog");
      assert.match(String(await dialog.getAttribute("aria-label")), /5\.00/);
      const close = page.getByRole("button", { name: "Close" });
      assert.equal(await page.evaluate("document.activeElement.shadowRoot.activeElement.tagName"), "BUTTON");
      assert.equal(await page.evaluate("document.documentElement.style.overflow"), "hidden");
      await assertAccessible(page);
      // A press on the ground does not close.
      await page.mouse.click(4, 4);
      assert.equal(await dialog.isVisible(), true);
      await page.keyboard.press("Escape");
      await waitForEvent(page, "close");
      assert.equal(await page.evaluate("document.activeElement.id"), "buy");
      assert.equal(await page.evaluate("document.documentElement.style.overflow"), "");

      await page.evaluate("window.events = []");
      await page.keyboard.press("Enter");
      await waitForEvent(page, "ready");
      await page.keyboard.press("Tab");
      await page.waitForFunction("document.activeElement?.shadowRoot?.activeElement?.tagName === 'IFRAME'");
      await page.keyboard.press("Escape");
      await waitForEvent(page, "close");

      await page.evaluate("window.events = []");
      await page.keyboard.press("Enter");
      await waitForEvent(page, "ready");
      await close.click();
      await waitForEvent(page, "close");
      assert.equal(await page.locator("iframe").count(), 0);
    });
  },
);

for (const { locale, theme } of [
  { locale: "en", theme: "light" },
  { locale: "ar", theme: "dark" },
])
  for (const isTest of [true, false])
    test(
      `the close button of the modal covers no text, also while the page scrolls (${locale}, ${isTest ? "test" : "real"} money)`,
      { skip: skip || onlyDeep },
      async () => {
        const { intentId } = await shops.createIntent();
        const script = `mount({ intentId: "${intentId}", locale: "${locale}", theme: "${theme}", ...handlers });`;
        const use = async (page: Page) => {
          await waitForEvent(page, "ready");
          await inFrame(page).locator("main[data-screen]:not(.message)").waitFor();
          assert.equal(await inFrame(page).locator(".ribbon").count(), isTest ? 1 : 0);
          for (const width of [320, 390, 700, 1_280]) {
            await page.setViewportSize({ width, height: 700 });
            for (const scrolled of [0, 90, 10_000])
              assert.deepEqual(await coveredTexts(page, scrolled), [], `${width} px wide, scrolled ${scrolled} px`);
          }
        };
        await shops.withPage(script, use, { init: isTest ? "" : REAL_MONEY });
      },
    );

test("D39 redirect opens the checkout's own page with a ticket", { skip }, async () => {
  const { intentId } = await shops.createIntent();
  await shops.withPage(
    `mount({ intentId: "${intentId}", mode: "redirect", locale: "de", ...handlers });`,
    async (page) => {
      await page.waitForURL(`${shops.base}/c/${intentId}?locale=de`, { timeout: WAIT_MS });
      await page.locator("html[lang=de] main[data-screen=ready], html[lang=de] main[data-screen=choose]").waitFor();
    },
  );
});

test("D39 twice, before the document is ready, and without a target", { skip: skip || onlyDeep }, async () => {
  const { intentId } = await shops.createIntent();
  const head = `<script src="${shops.base}/sdk/v1.global.js"></script><script>
    const early = Tributary.mount({ intentId: "${intentId}", target: "#pay" });
    early.on("ready", () => window.events.push(["early", ""]));
    Tributary.mount({ intentId: "${intentId}", target: "#pay" });
    Tributary.mount({ intentId: "${intentId}", target: "#missing", onError: ({ code }) => window.events.push(["missing", code]) });
  </script>`;
  await shops.withPage(
    "",
    async (page) => {
      await waitForEvent(page, "early");
      assert.equal(await page.locator("iframe").count(), 1);
      assert.deepEqual(Object.fromEntries(await events(page)), { early: "", missing: "no_target" });
    },
    { head },
  );
  await shops.withPage(
    `const one = mount({ intentId: "${intentId}", target: "#pay", ...handlers });
     window.same = one === mount({ intentId: "${intentId}", target: "#pay" });
     one.unmount();
     mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
    async (page) => {
      await waitForEvent(page, "ready");
      assert.equal(await page.evaluate("window.same"), true);
      assert.equal(await page.locator("iframe").count(), 1);
    },
  );
});

test("D39 the element shows the checkout, and sends its events", { skip }, async () => {
  const { intentId } = await shops.createIntent();
  const body = `<main><h1>Shop</h1><tributary-checkout intent-id="${intentId}" locale="fr"></tributary-checkout></main>
    <script>document.querySelector("tributary-checkout").addEventListener("tributary:ready", ({ detail }) => window.events.push(["ready", detail.intentId]))</script>
    <script type="module" src="${shops.base}/sdk/v1.element.js"></script>`;
  await shops.withPage(
    "",
    async (page) => {
      await waitForEvent(page, "ready");
      assert.deepEqual(await events(page), [["ready", intentId]]);
      await inFrame(page).locator("html[lang=fr]").waitFor();
      await page.evaluate(`document.querySelector("tributary-checkout").remove()`);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    { body },
  );
});

test("D38 a frame whose browser keeps no cookies holds its session in memory", { skip }, async () => {
  const { intentId } = await shops.createIntent();
  const init = `if (window.parent !== window) Object.defineProperty(document, "cookie", { get: () => "", set() {} })`;
  let following: Promise<Request> | undefined;
  await shops.withPage(
    `mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
    async (page) => {
      await waitForEvent(page, "status");
      const request = await following;
      assert.match(request?.headers()["authorization"] ?? "", /^Bearer cs_/);
      assert.deepEqual(await page.context().cookies(), []);
    },
    {
      init,
      prepare: async (page) => {
        following = page.waitForRequest((request) => request.url().endsWith("/events"), { timeout: WAIT_MS });
      },
    },
  );
});

/** The texts of the frame that are visible below the dialog's close button. */
async function coveredTexts(page: Page, scrolled: number): Promise<string[]> {
  const button = await page.getByRole("dialog").getByRole("button").boundingBox();
  const frame = await page.locator("iframe").boundingBox();
  assert.ok(button && frame);
  const area = { x: button.x - frame.x, y: button.y - frame.y, width: button.width, height: button.height };
  return inFrame(page).locator("body").evaluate(findVisibleTexts, { area, scrolled });
}

type Area = { x: number; y: number; width: number; height: number };

/** Runs in the frame. A text counts where its own element is on top. */
function findVisibleTexts(body: Element, { area, scrolled }: { area: Area; scrolled: number }): string[] {
  scrollTo(0, scrolled);
  const found = new Set<string>();
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const { currentNode: text } = walker;
    range.selectNodeContents(text);
    for (const { left, right, top, bottom } of range.getClientRects()) {
      const x = (Math.max(left, area.x) + Math.min(right, area.x + area.width)) / 2;
      const y = (Math.max(top, area.y) + Math.min(bottom, area.y + area.height)) / 2;
      const isInArea = x > left && x < right && x > area.x && x < area.x + area.width && y > top && y < bottom;
      if (!isInArea || y < area.y || y > area.y + area.height) continue;
      if (document.elementFromPoint(x, y) === text.parentElement) found.add(text.textContent ?? "");
    }
  }
  return [...found];
}
