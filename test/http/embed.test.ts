import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { addPageOrigin, removePageOrigin } from "../../src/merchant/pageOrigins.ts";
import {
  listenTestApi,
  assertFault,
  openTestApi,
  testApi,
  UNKNOWN_ID,
  type Json,
  type Merchant,
  type TestApi,
} from "../support/api.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { TEST_CHAIN } from "../support/intents.ts";
import { openMerchantSite, type MerchantSite } from "../support/merchantSite.ts";
import { recordMovements, setHead } from "../support/movements.ts";

// The checkout in a frame of a merchant's page. Browsers treat the shop's localhost and the service's 127.0.0.1 as two
// sites.

const skip = skipWithoutChromium;
const SHOP = "https://shop.example";
const TICKET_MS = 60_000;

let api: TestApi;
let base: string;
let merchant: Merchant;
let browser: Browser | undefined;
let shop: MerchantSite;
let evil: MerchantSite;

before(async () => {
  api = await testApi();
  base = `http://127.0.0.1:${await listenTestApi(api)}`;
  [shop, evil] = await Promise.all([openMerchantSite(), openMerchantSite()]);
  merchant = await api.openMerchant();
  if (skip === false) browser = await sharedBrowser();
});

after(async () => {
  await Promise.all([shop.close(), evil.close()]);
});

async function allowOrigin(origin: string): Promise<Merchant> {
  const other = await api.openMerchant();
  await addPageOrigin(api.world, { accountId: other.accountId, origin });
  return other;
}

function requestTicket(intentId: string, headers: Record<string, string | string[]>, body?: object) {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return api.send(`/c/${intentId}/session`, { method: "POST", headers: { ...type, ...headers }, body });
}

async function policyOf(intentId: string): Promise<string> {
  const { headers } = await api.send(`/c/${intentId}`);
  return /frame-ancestors ([^;]*)/.exec(String(headers["content-security-policy"]))?.[1] ?? "";
}

test("D19 a listed origin gets a ticket without a token, and the ticket opens a session for that intent only", async () => {
  const listed = await allowOrigin(SHOP);
  const { intentId } = await listed.createIntent();
  const response = await requestTicket(intentId, { origin: SHOP });
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers["access-control-allow-origin"], SHOP);
  assert.equal(response.headers["vary"], "Origin");
  assert.equal(response.headers["cache-control"], "no-store");
  assert.equal(response.headers["set-cookie"], undefined);
  const { ticket } = response.body;

  const other = await listed.createIntent();
  assertFault(await requestTicket(other.intentId, {}, { ticket }), 401, "unauthorized");
  const opened = await requestTicket(intentId, {}, { ticket });
  assert.equal(opened.status, 204);
  const cookie = String(opened.headers["set-cookie"]);
  for (const part of ["HttpOnly", "SameSite=None", "Partitioned", "Secure", `Path=/c/${intentId};`])
    assert.ok(`${cookie};`.includes(part), cookie);
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  assert.equal((await api.send(`/c/${intentId}/state`, { headers })).status, 200);
  assertFault(await api.send(`/c/${other.intentId}/state`, { headers }), 401, "unauthorized");
});

test("D19 an origin that does not match the list exactly gets 401 without CORS headers", async () => {
  const listed = await allowOrigin(SHOP);
  const { intentId } = await listed.createIntent();
  const unlistedOrigins: (string | string[] | undefined)[] = [
    undefined,
    "",
    "null",
    `${SHOP}/`,
    `${SHOP}:443`,
    `${SHOP}.`,
    `${SHOP}.evil.example`,
    "http://shop.example",
    "https://SHOP.example",
    "https://evil.shop.example",
    "https://shop.example:8443",
    "https://evilshop.example",
    "https://shop.exampl",
    `${SHOP}, https://evil.example`,
    [SHOP, SHOP],
    [SHOP, "https://evil.example"],
    api.world.config.baseUrl,
    "*",
  ];
  for (const origin of unlistedOrigins) {
    const response = await requestTicket(intentId, origin === undefined ? {} : { origin });
    assertFault(response, 401, "unauthorized");
    assert.equal(response.headers["access-control-allow-origin"], undefined, String(origin));
  }
  const foreign = (await merchant.createIntent()).intentId;
  assertFault(await requestTicket(foreign, { origin: SHOP }), 401, "unauthorized");
  const unknown = await requestTicket(UNKNOWN_ID, { origin: SHOP });
  assertFault(unknown, 401, "unauthorized");
  assert.equal(unknown.headers["access-control-allow-origin"], "*", "a page may learn that it has a wrong id");
});

test("D19 a ticket lasts a minute; cookies and tickets are not interchangeable, and forged tickets fail", async () => {
  const listed = await allowOrigin(SHOP);
  const { intentId } = await listed.createIntent();
  const { ticket } = (await requestTicket(intentId, { origin: SHOP })).body;
  const opened = await requestTicket(intentId, {}, { ticket });
  const cookie = /tributary_session=([^;]+)/.exec(String(opened.headers["set-cookie"]))?.[1] ?? "";
  const asCookie = { cookie: `tributary_session=${ticket.slice(3)}` };
  assertFault(await api.send(`/c/${intentId}/state`, { headers: asCookie }), 401, "unauthorized");
  const later = String(ticket).replace(/^et_\d+/, `et_${api.world.clock.now().getTime() + 10 * TICKET_MS}`);
  for (const wrong of [`et_${cookie}`, cookie, later, "et_", "et_1.x", `wt_${ticket.slice(3)}`])
    assertFault(await requestTicket(intentId, {}, { ticket: wrong }), 401, "unauthorized");
  assertFault(await requestTicket(intentId, {}, { ticket, widgetTokn: "x" }), 400, "invalid_request");
  api.advanceTime(TICKET_MS - 1);
  assert.equal((await requestTicket(intentId, {}, { ticket })).status, 204);
  api.advanceTime(1);
  assertFault(await requestTicket(intentId, {}, { ticket }), 401, "unauthorized");
});

test("D19 frame-ancestors lists the account's origins, and 'none' by default", async () => {
  const listed = await allowOrigin(SHOP);
  const { intentId } = await listed.createIntent();
  assert.equal(await policyOf(intentId), SHOP);
  await addPageOrigin(api.world, { accountId: listed.accountId, origin: "https://a.example:8443" });
  assert.equal(await policyOf(intentId), `https://a.example:8443 ${SHOP}`);
  for (const origin of [SHOP, "https://a.example:8443"])
    await removePageOrigin(api.world, { accountId: listed.accountId, origin });
  assert.equal(await policyOf(intentId), "'none'");
  assertFault(await requestTicket(intentId, { origin: SHOP }), 401, "unauthorized");
  assert.equal(await policyOf((await merchant.createIntent()).intentId), "'none'");
  assert.equal(await policyOf(UNKNOWN_ID), "'none'");
});

test("D19 frame-ancestors is 'none' while the database is unavailable", async () => {
  const listed = await allowOrigin(SHOP);
  const { intentId } = await listed.createIntent();
  const { world } = api;
  const broken = {
    ...world.db,
    get root(): never {
      throw new Error("the database is away");
    },
  };
  const other = await openTestApi(broken);
  const { headers } = await other.send(`/c/${intentId}`);
  assert.match(String(headers["content-security-policy"]), /frame-ancestors 'none'/);
  await other.server.close();
});

test("a listed site shows the checkout in a frame", { skip }, async () => {
  const listed = await allowOrigin(shop.origin);
  const { intentId, inboxAddress } = await listed.createIntent({ priceUnits: 5_000_000 });
  await withPage(shop, async (page, consoleLines) => {
    assert.equal(await embed(page, intentId), "ticket");
    const frame = page.frameLocator("iframe");
    await frame.locator("main[data-screen]:not([data-screen=opening])").waitFor();
    if (await frame.locator("main[data-screen=choose]").isVisible()) await frame.locator(".opt.first").click();
    assert.equal(await frame.locator("#address").first().textContent(), inboxAddress);
    const inner = page.frames().find((each) => each.url().startsWith(base));
    assert.equal(inner?.url(), `${base}/c/${intentId}`, "the ticket has left the frame's address");
    await page.waitForFunction("document.querySelector('iframe').contentDocument === null");
    assert.deepEqual(consoleLines, []);
  });
});

test("an unlisted site gets no ticket and no frame, even around a listed site's frame", { skip }, async () => {
  const listed = await allowOrigin(shop.origin);
  const { intentId } = await listed.createIntent();
  await withPage(evil, async (page, consoleLines) => {
    assert.equal(await embed(page, intentId), "refused");
    await waitForBlockedFrame(page, consoleLines);
  });
  const { ticket } = (await requestTicket(intentId, { origin: shop.origin })).body;
  await withPage(evil, async (page, consoleLines) => {
    await frame(page, `${base}/c/${intentId}#${ticket}`);
    await waitForBlockedFrame(page, consoleLines);
  });
  await withPage(evil, async (page, consoleLines) => {
    await frame(page, shop.origin);
    const inner = page.frames().find((each) => each.url().startsWith(shop.origin));
    assert.ok(inner);
    await inBrowser(inner, addFrame, `${base}/c/${intentId}#${ticket}`);
    await waitForBlockedFrame(page, consoleLines);
  });
  await removePageOrigin(api.world, { accountId: listed.accountId, origin: shop.origin });
  await withPage(shop, async (page, consoleLines) => {
    assert.equal(await embed(page, intentId), "refused");
    await waitForBlockedFrame(page, consoleLines);
  });
});

test("an outgoing link carries neither the token nor a referrer", { skip }, async () => {
  const { config, db } = api.world;
  const chains = config.chains.map((chain) => ({ ...chain, explorerUrl: evil.origin }));
  const other = await openTestApi(db, { catalog: buildCatalog({ ...config, chains }) });
  const otherBase = await other.server.listen({ host: "127.0.0.1", port: 0 });
  const created = await merchant.createIntent();
  await recordDeposit(created);
  assert.ok(browser);
  const context = await browser.newContext();
  const page = await context.newPage();
  const urls: string[] = [];
  context.on("request", (request) => urls.push(request.url()));
  await page.goto(`${otherBase}/c/${created.intentId}#${created.widgetToken}`);
  const link = page.locator("[data-deposit] a");
  await link.waitFor();
  const [popup] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await popup.waitForLoadState();
  const explorerRequest = evil.requests.findLast(({ url }) => url?.startsWith("/tx/"));
  assert.ok(explorerRequest);
  assert.equal(explorerRequest.headers.referer, undefined);
  assert.equal(await popup.evaluate("document.referrer + String(window.opener)"), "null");
  assert.ok(urls.every((url) => !url.includes(created.widgetToken)));
  await context.close();
  await other.server.close();
});

async function recordDeposit({ intentId }: Json): Promise<void> {
  const { db } = api.world;
  const intent = await db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirstOrThrow();
  await setHead(db, TEST_CHAIN, { number: 40n });
  await recordMovements(db, intent, [{ chainTx: `0xe1${intentId}`, amountUnits: 1n, block: 40n }]);
  await processMovements(api.world, TEST_CHAIN);
}

async function withPage(site: MerchantSite, use: (page: Page, consoleLines: string[]) => Promise<void>): Promise<void> {
  assert.ok(browser);
  const context = await browser.newContext();
  const page = await context.newPage();
  const consoleLines: string[] = [];
  page.on("console", (message) => consoleLines.push(message.text()));
  try {
    await page.goto(site.origin);
    await use(page, consoleLines);
  } finally {
    await context.close();
  }
}

/** Embeds the checkout as a merchant's page does, with the intent's id alone. */
async function embed(page: Page, intentId: string): Promise<"ticket" | "refused"> {
  const address = `${base}/c/${intentId}`;
  const ticket = await inBrowser<string | null>(page, fetchTicket, `${address}/session`);
  await frame(page, ticket === null ? address : `${address}#${ticket}`);
  return ticket === null ? "refused" : "ticket";
}

async function frame(page: Page, url: string): Promise<void> {
  await inBrowser(page, addFrame, url);
}

/** Waits until the browser blocks the frame and logs the frame-ancestors rule. */
async function waitForBlockedFrame(page: Page, consoleLines: readonly string[]): Promise<void> {
  const deadline = AbortSignal.timeout(120_000);
  while (!consoleLines.some((text) => text.includes("frame-ancestors")) && !deadline.aborted)
    await page.waitForTimeout(20);
  assert.ok(
    consoleLines.some((text) => text.includes("frame-ancestors")),
    consoleLines.join("\n"),
  );
  assert.ok(page.frames().every((each) => !each.url().startsWith(base)));
}

// The next two scripts run in the browser, so they are text here.
const fetchTicket = `async (url) => {
  try {
    const answer = await fetch(url, { method: "POST" });
    return answer.ok ? (await answer.json()).ticket : null;
  } catch {
    return null;
  }
}`;

const addFrame = `(url) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.addEventListener("load", () => resolve(null), { once: true });
  frame.src = url;
  document.body.append(frame);
})`;

function inBrowser<T>(where: Pick<Page, "evaluate">, script: string, url: string): Promise<T> {
  return where.evaluate<T>(`(${script})(${JSON.stringify(url)})`);
}
