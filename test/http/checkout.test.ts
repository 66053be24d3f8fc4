import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { assertFault, DUSD, testApi, UNKNOWN_ID, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { openWithoutCookies, skipWithoutChromium, skipWithoutSettings } from "../support/browser.ts";
import { temporaryFolder } from "../support/cli.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { randomAddress, TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { countMoney } from "../support/countMoney.ts";
import { onlyDeep } from "../support/runNumber.ts";

const skip = skipWithoutChromium;
const PRICE = 25_500_000;
const RETURN_URL = "https://shop.example/orders/1";
const PHONE = { width: 390, height: 844 };

let api: TestApi;
let base: string;
let merchant: Merchant;
let browser: Browser | undefined;

before(async () => {
  api = await testApi();
  base = await api.server.listen({ host: "127.0.0.1", port: 0 });
  merchant = await api.openMerchant();
  if (skip === false) browser = await sharedBrowser();
});

test("§1.3, D19 only the latest widget token opens a session, for its own checkout page", async () => {
  const wallet = merchant.wallet;
  const first = await merchant.createIntent({ payoutWallet: wallet });
  const { intentId } = first;
  const second = await merchant.createIntent({ payoutWallet: wallet });
  assert.equal(second.intentId, intentId);
  const { pathname, hash, search } = new URL(second.checkoutUrl);
  assert.deepEqual([pathname, hash, search], [`/c/${intentId}`, "", ""]);
  const page = await api.send(pathname);
  assert.deepEqual([page.status, page.headers["content-type"]], [200, "text/html; charset=utf-8"]);

  assertFault(await openSession(intentId, first.widgetToken), 401, "unauthorized");
  assertFault(await openSession(intentId, "wt_nonsense"), 401, "unauthorized");
  assertFault(await openSession(UNKNOWN_ID, second.widgetToken), 401, "unauthorized");
  assertFault(await api.send(`/c/${intentId}/state`), 401, "unauthorized");

  const opened = await openSession(intentId, second.widgetToken);
  assert.equal(opened.status, 204);
  const cookie = String(opened.headers["set-cookie"]);
  for (const part of ["HttpOnly", "SameSite=Lax", `Path=/c/${intentId}`]) assert.ok(cookie.includes(part), cookie);
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  assert.equal((await api.send(`/c/${intentId}/state`, { headers })).status, 200);

  const other = await merchant.createIntent();
  assertFault(await api.send(`/c/${other.intentId}/state`, { headers }), 401, "unauthorized");
  await merchant.createIntent({ payoutWallet: wallet });
  assertFault(await openSession(intentId, second.widgetToken), 401, "unauthorized");
  assert.equal((await api.send(`/c/${intentId}/state`, { headers })).status, 200, "a page that is open stays open");
});

test("D20 the page needs neither version nor key and blocks other origins", async () => {
  const { intentId } = await merchant.createIntent();
  const page = await api.send(`/c/${intentId}`);
  assert.equal(page.status, 200);
  const script = /<script src="([^"]+)"/.exec(page.text)?.[1] ?? "";
  assert.equal(page.headers["link"], `<${script}>; rel=modulepreload`, "the script comes beside the document");
  const policy = String(page.headers["content-security-policy"]);
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule));
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  assertFault(await api.send("/c/%22%3E%3Cscript%3E"), 404, "not_found");
});

test("the page follows a payment: waiting, partly paid, seen, paid", { skip }, async () => {
  const created = await merchant.createIntent({ priceUnits: PRICE, oneTime: true, returnUrl: RETURN_URL });
  await withPage(async (page, context) => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await setHead(api.world.db, TEST_CHAIN, { number: 10n });
    await openReady(page, created);
    assert.equal(await text(page, ".amount"), "25.50 USDC");
    assert.equal(await text(page, "#address"), created.inboxAddress);
    await page.getByText("Checked on your device").waitFor();
    assert.equal(new URL(page.url()).hash, "", "the token has left the address bar");
    assert.ok(
      requests.every((url) => url.startsWith(base) && !url.includes("wt_")),
      requests.join("\n"),
    );
    assert.ok((await context.cookies()).every((cookie) => cookie.httpOnly));
    const { tokenAddress } = created.payout;
    const uri = `ethereum:${tokenAddress}@31337/transfer?address=${created.inboxAddress}`;
    assert.equal(await codeContent(page, ".by-wallet"), `${uri}&uint256=${PRICE}`);
    assert.equal(await codeContent(page, ".by-address"), created.inboxAddress);

    await recordTransfer(created.intentId, { chainTx: "0xa1", amountUnits: 10_000_000n, block: 11n });
    await screen(page, "underpaid");
    await page.getByText("10.00 USDC of 25.50 USDC arrived.").waitFor();
    assert.equal(await text(page, "h1"), "Send 15.50 USDC more");
    assert.equal(await codeContent(page, ".by-wallet"), `${uri}&uint256=15500000`);

    await recordTransfer(created.intentId, { chainTx: "0xa2", amountUnits: 15_500_000n, block: 13n });
    await screen(page, "many");
    assert.equal(await page.locator(".pay").count(), 0, "nothing more to send");

    await setHead(api.world.db, TEST_CHAIN, { number: 20n });
    await advance();
    await screen(page, "paid");
    assert.equal(await text(page, ".amount"), "25.50 USDC");
    assert.equal(await page.locator("[data-deposit]").count(), 2);
    assert.equal(await page.locator(".btn.main").getAttribute("href"), RETURN_URL);
    assert.match(await page.title(), /^Paid\. Thank you! – /);
  });
});

test("the page says what is too much, and what is on hold", { skip }, async () => {
  const over = await merchant.createIntent({ priceUnits: PRICE, oneTime: true });
  await withPage(async (page) => {
    await openReady(page, over);
    await recordTransfer(over.intentId, { chainTx: "0xb1", amountUnits: 30_000_000n, block: 30n });
    await screen(page, "seen");
    await setHead(api.world.db, TEST_CHAIN, { number: 60n });
    await advance();
    await screen(page, "overpaid");
    assert.equal(await text(page, "h1"), "Paid, with 4.50 USDC too much");
  });
  const held = await merchant.createIntent({ priceUnits: PRICE, oneTime: true });
  await withPage(async (page) => {
    await openReady(page, held);
    await recordTransfer(held.intentId, { chainTx: "0xb2", amountUnits: 25n * 10n ** 18n, block: 61n, token: DUSD });
    await screen(page, "held");
    assert.equal(await text(page, "h1"), "Your 25.00 DUSD is on hold");
    await page.locator('[data-do="pay"]').click();
    await screen(page, "ready");
    assert.equal(await page.evaluate("document.activeElement.id"), "now", "focus follows the payer's own press");
  });
});

test("a replaced link is refused when opened again, and an open page keeps working", { skip }, async () => {
  const { intentId, widgetToken } = await merchant.createIntent({ payoutTokenAddress: DUSD });
  await withPage(async (page) => {
    await openReady(page, { intentId, widgetToken });
    assert.equal(await text(page, ".amount"), "Any amount you like");
    await page.reload();
    await screen(page, "ready");
    await merchant.createIntent({ payoutTokenAddress: DUSD });
    await page.reload();
    await screen(page, "ready");
  });
  await withPage(async (page) => {
    await page.goto(`${base}/c/${intentId}#${widgetToken}`);
    await screen(page, "stale");
    await page.goto("about:blank");
    await page.goto(`${base}/c/${intentId}`);
    await screen(page, "unknown");
  });
});

test("an older link opens the page in a browser that has its session", { skip: skip || onlyDeep }, async () => {
  const { intentId, widgetToken } = await merchant.createIntent({
    payoutTokenAddress: DUSD,
    payoutWallet: randomAddress(),
  });
  await withPage(async (page) => {
    await openReady(page, { intentId, widgetToken });
    const wrong = `wt_${"A".repeat(43)}`;
    await page.goto("about:blank");
    await page.goto(`${base}/c/${intentId}#${wrong}`);
    await screen(page, "ready");
  });
});

test(
  "a browser that says it keeps cookies and drops them follows the payment all the same",
  { skip: skip || onlyDeep },
  async () => {
    const created = await merchant.createIntent({ priceUnits: PRICE, oneTime: true });
    await withPage(async (page, context) => {
      const asked: { storage: string }[] = [];
      await page.route("**/session", async (route) => {
        asked.push(route.request().postDataJSON() as { storage: string });
        const response = await route.fetch();
        const { "set-cookie": _, ...headers } = response.headers();
        // The answer's cookie is in the browser by now: it goes before the page may use it.
        await context.clearCookies();
        await route.fulfill({ response, headers });
      });
      const following = page.waitForRequest(
        (request) => request.headers()["authorization"]?.startsWith("Bearer cs_") === true,
      );
      await setHead(api.world.db, TEST_CHAIN, { number: 50n });
      const isDead = page
        .locator("main[data-screen=ended]")
        .waitFor()
        .then(
          () => assert.fail("without its cookie the page is dead"),
          () => undefined,
        );
      await Promise.race([openReady(page, created).then(() => following), isDead]);
      await recordTransfer(created.intentId, { chainTx: "0xc1", amountUnits: 10_000_000n, block: 51n });
      await screen(page, "underpaid");
      assert.deepEqual(
        asked.map(({ storage }) => storage),
        ["cookie", "memory"],
      );
      assert.deepEqual(await context.cookies(), []);
    });
  },
);

test(
  "a browser whose owner blocks cookies and storage follows the payment",
  { skip: skipWithoutSettings || onlyDeep },
  async () => {
    const created = await merchant.createIntent({ priceUnits: PRICE, oneTime: true });
    const folder = temporaryFolder();
    const context = await openWithoutCookies(folder.path);
    try {
      const page = await context.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      await setHead(api.world.db, TEST_CHAIN, { number: 50n });
      await openReady(page, created);
      await assert.rejects(page.evaluate("sessionStorage.length"), /Access is denied/);
      assert.deepEqual(await context.cookies(), []);
      await recordTransfer(created.intentId, { chainTx: "0xc2", amountUnits: 10_000_000n, block: 51n });
      await screen(page, "underpaid");
      await page.reload();
      await screen(page, "unknown");
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
      folder.remove();
    }
  },
);

test("an address that does not follow from the terms is never shown", { skip }, async () => {
  const created = await merchant.createIntent({ priceUnits: PRICE });
  const forged = "0x1234567890123456789012345678901234567890";
  await withPage(async (page) => {
    await page.route("**/session", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(created.inboxAddress, forged) });
    });
    await page.goto(`${base}/c/${created.intentId}#${created.widgetToken}`);
    await screen(page, "refused");
    await page.getByRole("alert").waitFor();
    assert.equal(await page.locator(".qr, .copy, .order-summary, .btn").count(), 0, "nothing to pay with");
    await page.locator("details > summary").first().click();
    assert.deepEqual(await page.locator(".addr").allTextContents(), [created.inboxAddress, forged]);
  });
});

test(
  "a posted form shows the payment without JavaScript, in the reader's language",
  { skip: skip || onlyDeep },
  async () => {
    const created = await merchant.createIntent({ priceUnits: PRICE, oneTime: true });
    assert.ok(browser);
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false, locale: "de-DE" });
    const page = await context.newPage();
    const form = `<form method="post" action="${base}/c/${created.intentId}/session"><input name="widgetToken" value="${created.widgetToken}"><button>Pay</button></form>`;
    await page.goto(`data:text/html,${encodeURIComponent(form)}`);
    await page.getByText("Pay").click();
    await screen(page, "ready");
    assert.equal(
      await text(page, "h1"),
      "Senden Sie 25.50 USDC auf Test Chain".replace("Test Chain", await networkName(page)),
    );
    assert.equal(await text(page, "#address"), created.inboxAddress);
    assert.equal(await page.locator("[data-do]").count(), 0, "no button that needs a script");
    await page.getByText("Aktualisieren", { exact: true }).click();
    await screen(page, "ready");
    assert.equal(page.url(), `${base}/c/${created.intentId}`);

    await page.goto(`${base}/c/${UNKNOWN_ID}#wt_x`);
    assert.match((await page.locator("noscript p").textContent()) ?? "", /^Dieser Link braucht JavaScript/);
    await context.close();
  },
);

test("a handoff code opens the page once, in another browser", { skip }, async () => {
  const created = await merchant.createIntent({ priceUnits: PRICE });
  const opened = await openSession(created.intentId, created.widgetToken);
  const headers = {
    cookie: String(opened.headers["set-cookie"]).split(";")[0] ?? "",
    "content-type": "application/json",
  };
  const { body } = await api.send(`/c/${created.intentId}/handoff`, { method: "POST", headers, body: {} });
  const { search } = new URL(body.url);
  await withPage(async (page) => {
    await page.goto(`${base}/c/${created.intentId}${search}`);
    await screen(page, "ready");
    assert.equal(page.url(), `${base}/c/${created.intentId}`, "the code has left the address bar");
  });
  await withPage(async (page) => {
    await page.goto(`${base}/c/${created.intentId}${search}`);
    await screen(page, "used");
  });
});

test("the page shows merchant names as plain text", { skip }, async () => {
  const { createAccount } = await import("../../src/merchant/createAccount.ts");
  const payout = { namespace: "eip155", chainReference: "31337", wallet: merchant.wallet, currency: "USDC" } as const;
  const account = await createAccount(api.world, { name: '<img src=x onerror="document.title=1">', payout });
  const { createIntent } = await import("../../src/intent/createIntent.ts");
  const { intent, widgetToken } = await createIntent(api.world.db.root, api.world, { account, input: {} });
  await withPage(async (page) => {
    await openReady(page, { intentId: intent.id, widgetToken });
    assert.equal(await text(page, ".shop"), '<img src=x onerror="document.title=1">');
    assert.notEqual(await page.title(), "1");
    await page.reload();
    assert.equal(await text(page, ".shop"), '<img src=x onerror="document.title=1">');
    assert.notEqual(await page.title(), "1");
  });
});

function openSession(intentId: string, widgetToken: string) {
  const headers = { "content-type": "application/json" };
  return api.send(`/c/${intentId}/session`, { method: "POST", headers, body: { widgetToken } });
}

type IncomingTransfer = { chainTx: string; amountUnits: bigint; block: bigint; token?: string };

async function recordTransfer(intentId: string, transfer: IncomingTransfer): Promise<void> {
  const { chainTx, block, ...rest } = transfer;
  const { db } = api.world;
  const intent = await db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirstOrThrow();
  await setHead(db, TEST_CHAIN, { number: block });
  await recordMovements(db, intent, [{ chainTx: `${chainTx}${intentId}`, block, ...rest }]);
  await advance();
}

/** Does the work of the service's loops. */
async function advance(): Promise<void> {
  await processMovements(api.world, TEST_CHAIN);
  await countMoney(api.world, TEST_CHAIN);
}

async function withPage(use: (page: Page, context: BrowserContext) => Promise<void>): Promise<void> {
  assert.ok(browser);
  const context = await browser.newContext({ viewport: PHONE });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // The browser logs every answer outside 2xx, including a refused session.
    if (message.type() === "error" && !/status of 401/.test(message.text())) errors.push(message.text());
  });
  try {
    await use(page, context);
    assert.deepEqual(errors, []);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(width <= PHONE.width, `the page is ${width} wide on a phone`);
  } finally {
    await context.close();
  }
}

async function screen(page: Page, name: string): Promise<void> {
  await page.locator(`main[data-screen="${name}"]`).waitFor();
}

/** Opens the page with its token and chooses the payout's own coin. */
async function openReady(page: Page, { intentId, widgetToken }: Pick<Json, "intentId" | "widgetToken">): Promise<void> {
  await page.goto(`${base}/c/${intentId}#${widgetToken}`);
  await page.locator("main[data-screen=choose], main[data-screen=ready]").waitFor();
  const first = page.locator(".opt.first");
  if (await first.isVisible()) await first.click();
  await screen(page, "ready");
}

function codeContent(page: Page, way: string): Promise<string | null> {
  return page.locator(`${way} [data-content]`).getAttribute("data-content");
}

function networkName(page: Page): Promise<string> {
  return text(page, ".pill b");
}

/** The text, with plain spaces. */
async function text(page: Page, selector: string): Promise<string> {
  const shown = await page.locator(selector).first().innerText();
  return shown.replaceAll(/\s+/g, selector === "#address" ? "" : " ").trim();
}
