import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { assertFault, DUSD, testApi, UNKNOWN_ID, USDC, type Merchant, type TestApi } from "../support/api.ts";
import { openBrowser, skipWithoutChromium } from "../support/browser.ts";
import { TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { countMoney } from "../support/countMoney.ts";

const skip = skipWithoutChromium;
const PRICE = 25_500_000;
const PHONE = { width: 390, height: 844 };

let api: TestApi;
let base: string;
let merchant: Merchant;
let browser: Browser | undefined;

before(async () => {
  api = await testApi();
  base = await api.server.listen({ host: "127.0.0.1", port: 0 });
  merchant = await api.openMerchant();
  if (skip === false) browser = await openBrowser();
});

after(async () => browser?.close());

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
  assertFault(await api.send(`/c/${intentId}/status`), 401, "unauthorized");

  const opened = await openSession(intentId, second.widgetToken);
  assert.equal(opened.status, 204);
  const cookie = String(opened.headers["set-cookie"]);
  for (const part of ["HttpOnly", "SameSite=Lax", `Path=/c/${intentId}`]) assert.ok(cookie.includes(part), cookie);
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  assert.equal((await api.send(`/c/${intentId}/status`, { headers })).status, 200);

  const other = await merchant.createIntent();
  assertFault(await api.send(`/c/${other.intentId}/status`, { headers }), 401, "unauthorized");
  await merchant.createIntent({ payoutWallet: wallet });
  assertFault(await openSession(intentId, second.widgetToken), 401, "unauthorized");
  assert.equal((await api.send(`/c/${intentId}/status`, { headers })).status, 200, "a page that is open stays open");
});

test("D20 the page needs neither version nor key and blocks other origins", async () => {
  const { intentId } = await merchant.createIntent();
  const page = await api.send(`/c/${intentId}`);
  assert.equal(page.status, 200);
  const policy = String(page.headers["content-security-policy"]);
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule));
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  assertFault(await api.send("/c/%22%3E%3Cscript%3E"), 404, "not_found");
});

test("the page follows a payment: waiting, partly paid, seen, paid", { skip }, async () => {
  const created = await merchant.createIntent({ priceUnits: PRICE, oneTime: true });
  await withPage(async (page, context) => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await setHead(api.world.db, TEST_CHAIN, { number: 10n });
    await page.goto(`${base}/c/${created.intentId}#${created.widgetToken}`);
    await screenshot(page, "waiting");
    assert.equal(await text(page, "[data-text=amount]"), "25.5");
    assert.equal(await text(page, "[data-address]"), created.inboxAddress);
    assert.equal(new URL(page.url()).hash, "", "the token has left the address bar");
    assert.ok(
      requests.every((url) => url.startsWith(base) && !url.includes("wt_")),
      requests.join("\n"),
    );
    assert.ok((await context.cookies()).every((cookie) => cookie.httpOnly));
    await page.waitForFunction("document.querySelector('[data-code]').naturalWidth > 0");

    await recordTransfer(created.intentId, { chainTx: "0xa1", amountUnits: 10_000_000n, block: 11n });
    await screenshot(page, "waiting");
    await page.getByText("10 USDC arrived, 15.5 USDC are missing.").waitFor();
    assert.equal(await text(page, "[data-text=toSend]"), "15.5");

    await recordTransfer(created.intentId, { chainTx: "0xa2", amountUnits: 15_500_000n, block: 13n });
    await screenshot(page, "seen");
    assert.equal(await page.locator(".pay").isVisible(), false, "nothing more to send");

    await setHead(api.world.db, TEST_CHAIN, { number: 20n });
    await advance();
    await screenshot(page, "paid");
    assert.equal(await text(page, "[data-text=amount]"), "25.5");
    assert.equal(await page.locator("[data-deposits] li").count(), 2);
  });
});

test("a replaced link is refused when opened again, and an open page keeps working", { skip }, async () => {
  const { intentId, widgetToken } = await merchant.createIntent({ payoutTokenAddress: DUSD });
  await withPage(async (page) => {
    await page.goto(`${base}/c/${intentId}#${widgetToken}`);
    await screenshot(page, "waiting");
    assert.match(await text(page, ".sum"), /Any amount of\s+DUSD/);
    await page.reload();
    await screenshot(page, "waiting");
    await merchant.createIntent({ payoutTokenAddress: DUSD });
    await page.reload();
    await screenshot(page, "waiting");
  });
  await withPage(async (page) => {
    await page.goto(`${base}/c/${intentId}#${widgetToken}`);
    await screenshot(page, "refused");
  });
});

test("the payment code contains token, chain, inbox and amount", { skip }, async () => {
  const created = await merchant.createIntent({ priceUnits: PRICE });
  const opened = await openSession(created.intentId, created.widgetToken);
  const headers = { cookie: String(opened.headers["set-cookie"]).split(";")[0] ?? "" };
  const { body } = await api.send(`/c/${created.intentId}/status`, { headers });
  const { tokenAddress } = created.payout;
  assert.equal(tokenAddress.toLowerCase(), USDC);
  assert.equal(
    body.paymentUri,
    `ethereum:${tokenAddress}@31337/transfer?address=${created.inboxAddress}&uint256=${PRICE}`,
  );
});

test("the page shows merchant names as plain text", { skip }, async () => {
  const { createAccount } = await import("../../src/merchant/createAccount.ts");
  const payout = { namespace: "eip155", chainReference: "31337", wallet: merchant.wallet, currency: "USDC" } as const;
  const account = await createAccount(api.world, { name: '<img src=x onerror="document.title=1">', payout });
  const { createIntent } = await import("../../src/intent/createIntent.ts");
  const { intent, widgetToken } = await createIntent(api.world.db.root, api.world, { account, input: {} });
  await withPage(async (page) => {
    await page.goto(`${base}/c/${intent.id}#${widgetToken}`);
    await screenshot(page, "waiting");
    assert.equal(await text(page, ".merchant"), '<img src=x onerror="document.title=1">');
    assert.notEqual(await page.title(), "1");
  });
});

function openSession(intentId: string, widgetToken: string) {
  const headers = { "content-type": "application/json" };
  return api.send(`/c/${intentId}/session`, { method: "POST", headers, body: { widgetToken } });
}

type IncomingTransfer = { chainTx: string; amountUnits: bigint; block: bigint };

async function recordTransfer(intentId: string, { chainTx, amountUnits, block }: IncomingTransfer): Promise<void> {
  const { db } = api.world;
  const intent = await db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirstOrThrow();
  await setHead(db, TEST_CHAIN, { number: block });
  await recordMovements(db, intent, [{ chainTx: `${chainTx}${intentId}`, amountUnits, block }]);
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

async function screenshot(page: Page, name: string): Promise<void> {
  await page.locator(`main[data-stage="${name}"]`).waitFor({ timeout: 15_000 });
}

async function text(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().innerText()).trim();
}
