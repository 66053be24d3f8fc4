import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { SAMPLE_ADDRESS } from "../../packages/checkout/test/samples.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { openSample } from "../support/checkoutSamples.ts";

// What a payer can press, on samples: choices that need several networks, and what depends on the device.

const skip = skipWithoutChromium;
const DESK = { viewport: { width: 1_280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };

/** A time after that of the samples. A page whose clock stands there keeps what it shows for a moment alone. */
const LATER = new Date("2026-11-22T14:33:00.000Z");
const COPIED_MS = 2_000;
/** Two lines are higher. */
const LINE_PX_MAX = 30;

let browser: Browser | undefined;

before(async () => {
  if (skip === false) browser = await sharedBrowser();
});

async function withPage(options: BrowserContextOptions, use: (page: Page) => Promise<void>): Promise<void> {
  assert.ok(browser);
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  try {
    await use(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

test("the choice finds by word, greys out what is not open, and leads to the chosen network", { skip }, async () => {
  await withPage(DESK, async (page) => {
    await openSample(page, "choose");
    assert.equal(await page.locator(".opt").count(), 7);
    assert.match(await page.locator(".opt").first().innerText(), /USDC on Base\s+Simplest/);
    await page.locator("#q").fill("poly");
    assert.equal(await page.locator(".opt").count(), 1);
    await page.locator(".opt").click({ force: true });
    assert.match(await page.locator(".opt").innerText(), /Paused: we cannot see this network clearly right now/);
    await page.locator("#q").fill("doge");
    assert.equal(await page.locator("#found").innerText(), "Nothing found. Try a shorter word.");
    await page.locator("#q").fill("arb");
    await page.locator(".opt").click();
    await page.getByRole("heading", { name: "Send 25.00 USDC on Arbitrum" }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.id"), "now");
    await page.locator(".ok").waitFor();
    assert.equal(await page.locator("#address").textContent(), SAMPLE_ADDRESS);
    const uri = await page.locator(".by-wallet [data-content]").getAttribute("data-content");
    assert.match(uri ?? "", /^ethereum:0xA0b8.*@1\/transfer\?address=0x/);
  });
});

test("the ways on from a paid page stand beside each other, each on one line", { skip }, async () => {
  await withPage(DESK, async (page) => {
    await openSample(page, "paid");
    const [back, print] = await page.locator(".btns.side .btn").all();
    const boxes = await Promise.all([back?.boundingBox(), print?.boundingBox()]);
    assert.equal(boxes[0]?.y, boxes[1]?.y);
    const text = await back?.locator("span").boundingBox();
    assert.ok((text?.height ?? 0) < LINE_PX_MAX, `${text?.height} px`);
  });
});

test("a forged address of a chosen network is refused like any other", { skip }, async () => {
  await withPage(DESK, async (page) => {
    await openSample(page, "choose");
    await page.locator("#q").fill("usdc ethereum");
    await page.locator(".opt").click();
    await page.locator("main[data-screen=refused]").waitFor();
    assert.equal(await page.locator(".qr, .copy, .order-summary").count(), 0);
  });
});

test("copies the amount and the address as they must be typed", { skip }, async () => {
  await withPage({ ...DESK, permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await openSample(page, "longSum");
    await page.clock.pauseAt(LATER);
    const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
    await page.getByRole("button", { name: "Copy: Amount" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await clipboard(), "1234567.123456");
    await page.clock.runFor(COPIED_MS);
    assert.equal(await page.getByRole("button", { name: "Copied" }).count(), 0);
    await page.getByRole("button", { name: "Copy: Address" }).click();
    await page.waitForFunction(`navigator.clipboard.readText().then((text) => text.startsWith("0x"))`);
    assert.equal(await clipboard(), SAMPLE_ADDRESS);
    assert.equal(await page.locator("#say").innerText(), "Copied");
  });
});

test("without the clipboard the text is selected instead", { skip }, async () => {
  await withPage(DESK, async (page) => {
    await page.addInitScript("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))");
    await openSample(page, "ready");
    await page.clock.pauseAt(LATER);
    await page.getByRole("button", { name: "Copy: Address" }).click();
    await page.locator(".hint").getByText("Selected. Press and hold to copy.").waitFor();
    assert.equal((await page.evaluate<string>("String(getSelection())")).replaceAll(/\s/g, ""), SAMPLE_ADDRESS);
  });
});

test(
  "on a phone wallet apps come first, the code is folded, and an app opens the page by a code",
  { skip },
  async () => {
    await withPage(PHONE, async (page) => {
      await openSample(page, "ready");
      assert.equal(await page.locator(".qr").count(), 0);
      await page.getByText("Show a code for another device").click();
      await page.locator(".qr:visible").waitFor();
      const opened = page.waitForRequest(/^https:\/\/link\.metamask\.io\//);
      await page.route(/^https:\/\/link\.metamask\.io\//, (route) => route.abort());
      await page.getByRole("button", { name: "MetaMask" }).click();
      const url = (await opened).url();
      assert.equal(url, "https://link.metamask.io/dapp/checkout.example/c/pi_sample?handoff=hc_sample");
    });
  },
);

test("the language menu leads to the same page in another language", { skip }, async () => {
  await withPage(DESK, async (page) => {
    await openSample(page, "ready", { theme: "dark" });
    await page.locator(".langs > summary").click();
    assert.equal(await page.locator(".langs a").count(), 12);
    const href = await page.getByRole("link", { name: "العربية" }).getAttribute("href");
    assert.equal(href, "/c/pi_sample?locale=ar&theme=dark");
  });
});

test("the receipt prints on white, without buttons, with the transfer's address spelled out", { skip }, async () => {
  await withPage({ ...DESK, colorScheme: "dark" }, async (page) => {
    await openSample(page, "paid");
    await page.getByRole("button", { name: "Print or save receipt" }).waitFor();
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".btns").isVisible(), false);
    assert.equal(await page.getByText("Receipt", { exact: true }).isVisible(), true);
    assert.equal(await page.locator("#address").isVisible(), true);
    const background = `getComputedStyle(document.querySelector("main")).backgroundColor`;
    assert.equal(await page.evaluate(background), "rgb(255, 255, 255)");
  });
});

test("folds that the payer opened stay open while the page follows the payment", { skip }, async () => {
  await withPage(DESK, async (page) => {
    await openSample(page, "underpaid");
    await page.getByText("Paying from an exchange?").click();
    await page.locator('[for="way-address"]').click();
    // The sample's service has no stream, so the page polls.
    await page.waitForRequest(/\/state$/);
    await page.waitForRequest(/\/state$/);
    assert.equal(await page.getByText("Exchanges often take their fee").isVisible(), true);
    assert.equal(await page.locator("#way-address").isChecked(), true);
  });
});

test("a long amount stays in one piece on a phone", { skip }, async () => {
  await withPage({ viewport: { width: 390, height: 780 } }, async (page) => {
    await openSample(page, "longSum");
    const amount = page.locator("#amount");
    const [lines, text] = await amount.evaluate((element) => [element.getClientRects().length, element.textContent]);
    assert.deepEqual([lines, text?.replaceAll(/\s/g, " ")], [1, "1 234 567.123456 USDC"]);
  });
});
