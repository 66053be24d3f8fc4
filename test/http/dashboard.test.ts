import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { csvCell } from "../../src/http/dashboard/exportPayments.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { revokeKey } from "../../src/merchant/keys/revokeKey.ts";
import { CREATE_INTENTS, MANAGE_WEBHOOKS, READ_DASHBOARD } from "../../src/merchant/keys/scopes.ts";
import { setAccountStatus } from "../../src/merchant/setAccountStatus.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { listenTestApi, openTestApi, testApi, type Merchant, type TestApi } from "../support/api.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { cookieOf, FORM, formToken, openPages, signIn } from "../support/dashboard.ts";
import { openFaultyDatabase, type FaultyDatabase } from "../support/faultyDatabase.ts";
import { TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { onlyDeep } from "../support/runNumber.ts";

const HOUR_MS = 3_600_000;
const SCOPES = [CREATE_INTENTS, MANAGE_WEBHOOKS, READ_DASHBOARD];

describe("the dashboard", () => {
  let api: TestApi;
  let merchant: Merchant;
  before(async () => {
    api = await testApi();
    merchant = await api.openMerchant({ scopes: SCOPES });
  });

  test("a key with the scope signs in for eight hours, and nothing else does", async () => {
    const opened = await signIn(api, merchant.apiKey);
    assert.deepEqual([opened.status, opened.headers["location"]], [303, "/dashboard"]);
    const set = String(opened.headers["set-cookie"]);
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/dashboard", "Max-Age=28800"])
      assert.ok(set.includes(part));
    const get = (cookie: string) => api.send("/dashboard", { headers: { cookie } });
    const page = await get(cookieOf(opened));
    assert.equal(page.status, 200);
    assert.ok(
      !page.text.includes(merchant.apiKey) && !/ style=| on\w+=|<style/.test(page.text),
      "no secret, nothing inline",
    );
    for (const rule of ["default-src 'none'", "script-src 'self'", "trusted-types 'none'", "frame-ancestors 'none'"])
      assert.ok(String(page.headers["content-security-policy"]).includes(rule));

    const plain = await api.openMerchant();
    assert.match((await signIn(api, plain.apiKey)).text, /lacks the scope dashboard:read/);
    const wrong = await signIn(api, `${merchant.apiKey.slice(0, -1)}x`);
    assert.deepEqual([wrong.status, wrong.headers["set-cookie"]], [401, undefined]);
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example", host: "pay.example" }])
      assert.equal((await signIn(api, merchant.apiKey, headers)).headers["set-cookie"], undefined, "another site");
    const proxied = { origin: api.world.config.baseUrl, host: "upstream:8787" };
    assert.equal((await signIn(api, merchant.apiKey, proxied)).status, 303, "behind a proxy that changes the host");
    const [name, value = ""] = cookieOf(opened).split("=");
    const swap = (text: string, at: number) => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
    for (const forged of [
      `${name}=`,
      `${name}=x.y`,
      `${name}=${swap(value, value.length - 9)}`,
      `${name}=${swap(value, 0)}`,
    ])
      assert.equal((await get(forged)).status, 401, forged);
    api.advanceTime(8 * HOUR_MS);
    assert.equal((await get(cookieOf(opened))).status, 401, "after eight hours");
  });

  test("a network tries ten keys a minute, and other sites' pages none of them", async () => {
    const remoteAddress = "10.9.9.9";
    const send = (more: object = {}) =>
      api.send("/dashboard/sign-in", {
        method: "POST",
        headers: { ...FORM, ...more },
        body: "key=wrong",
        remoteAddress,
      });
    await Promise.all(Array.from({ length: 12 }, () => send({ "sec-fetch-site": "cross-site" })));
    const tries = await Promise.all(Array.from({ length: 12 }, () => send()));
    assert.equal(tries.filter(({ status }) => status === 429).length, 2);
  });

  test("an account reads 480 pages a minute, however often its key signs in", { skip: onlyDeep }, async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const sessions = [await openPages(api, own), await openPages(api, own), await openPages(api, own)];
    const reads = sessions.flatMap(({ get }) => Array.from({ length: 170 }, () => get("/dashboard/payments/pi_x")));
    const statuses = (await Promise.all(reads)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 429).length, 30);
  });

  test("a session ends by sign-out, revocation and suspension", async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const first = await openPages(api, own);
    const other = await openPages(api, merchant);
    const token = formToken(await first.get("/dashboard"));
    const foreignToken = formToken(await other.get("/dashboard"));
    const signOut = (body: string, headers: Record<string, string> = {}) =>
      api.send("/dashboard/sign-out", { method: "POST", headers: { ...FORM, cookie: first.cookie, ...headers }, body });
    assert.equal((await signOut("")).status, 401, "without a token");
    assert.equal((await signOut(`token=${foreignToken}`)).status, 401, "a token of another session");
    assert.equal((await signOut(`token=${token}`, { "sec-fetch-site": "same-site" })).status, 401, "from another site");
    assert.equal((await first.get("/dashboard")).status, 200);
    assert.equal((await signOut(`token=${token}`)).status, 303);
    assert.equal((await first.get("/dashboard")).status, 401, "signed out");

    const { keyId, apiKey } = await createKey(api.world, { accountId: own.accountId, scopes: SCOPES });
    const second = await openPages(api, { ...own, apiKey });
    assert.equal((await second.get("/dashboard")).status, 200);
    await revokeKey(api.world, keyId);
    assert.equal((await second.get("/dashboard")).status, 401, "the key is revoked");
    const third = await openPages(api, own);
    await setAccountStatus(api.world, { accountId: own.accountId, status: "suspended" });
    assert.equal((await third.get("/dashboard")).status, 401, "the account is suspended");
  });

  test("the list filters, pages and exports what the API lists, and no cell is a formula", async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const pages = await openPages(api, own);
    assert.match((await pages.get("/dashboard")).text, /There is no payment yet/);
    const hostile = '=HYPERLINK("https://evil.example")';
    await own.createIntent({ priceUnits: 1_000_000, merchantReference: hostile, description: "<b>bold</b>" });
    for (let count = 0; count < 30; count += 1) await own.insertIntent({ merchant_reference: `order-${count}` });
    const first = (await pages.get("/dashboard")).text;
    assert.equal(first.match(/href="\/dashboard\/payments\/pi_/g)?.length, 25);
    const older = /href="(\/dashboard\?cursor=[^"]+)"/.exec(first)?.[1] ?? "";
    const second = (await pages.get(older)).text;
    assert.equal(second.match(/href="\/dashboard\/payments\/pi_/g)?.length, 6);
    assert.ok(!second.includes("<b>bold"), "texts stay texts");
    const named = await pages.get("/dashboard?merchantReference=order-7");
    assert.equal(named.text.match(/href="\/dashboard\/payments\/pi_/g)?.length, 1);
    assert.match((await pages.get("/dashboard?paymentStatus=paid")).text, /No payment matches/);
    for (const bad of [
      "status=x",
      "createdAfter=2026-13-40",
      "cursor=x",
      "paymentStatus=settled",
      "merchantReference=%00",
      "status=active&status=settled",
      "status=%zz",
    ])
      assert.equal((await pages.get(`/dashboard?${bad}`)).status, 404, bad);

    const csv = await pages.get("/dashboard/payments.csv");
    assert.match(String(csv.headers["content-disposition"]), /attachment/);
    assert.equal(csv.text.trimEnd().split("\r\n").length, 32, "the header and every payment");
    assert.ok(csv.text.includes(`"'=HYPERLINK(""https://evil.example"")"`), "the formula is a text");
    const lines = (await pages.get("/dashboard/payments.jsonl?merchantReference=order-7")).text.trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).merchantReference),
      ["order-7"],
    );
    for (const text of ["=1", "+1", "-1", "@a", "\tx", "\rx"]) assert.match(csvCell(text), /^"'/, text);
    for (const text of ["a;=1", "\uff1d1", "a\t@b"]) assert.match(csvCell(text), /^"(a[;\t])?'/, text);
    assert.equal(csvCell("plain"), "plain");
  });

  test("a payment shows its money, its story and why money is held, and every search finds it", async () => {
    const pages = await openPages(api, merchant);
    const created = await merchant.createIntent({
      priceUnits: 25_000_000,
      oneTime: true,
      merchantReference: "order-77",
    });
    const { db } = api.world;
    const row = await db.root
      .selectFrom("intent")
      .selectAll()
      .where("id", "=", created.intentId)
      .executeTakeFirstOrThrow();
    const chainTx = `0x${"cd".repeat(32)}`;
    await setHead(db, TEST_CHAIN, { number: 100n });
    await recordMovements(db, row, [{ chainTx, amountUnits: 25_000_000n, block: 90n }]);
    await processMovements(api.world, TEST_CHAIN);
    const deposit = await db.root
      .selectFrom("deposit")
      .selectAll()
      .where("intent_id", "=", row.id)
      .executeTakeFirstOrThrow();
    const detail = await pages.get(`/dashboard/payments/${row.id}`);
    for (const text of ["order-77", "25.00", created.inboxAddress, deposit.id, "What happened"])
      assert.ok(detail.text.includes(text), text);
    assert.ok(!detail.text.includes("wt_"), "no widget token");
    for (const text of [row.id, deposit.id, created.inboxAddress, deposit.sender, chainTx, "order-77"]) {
      const found = await pages.get(`/dashboard/search?q=${encodeURIComponent(text)}`);
      const isOne = found.status === 303 && found.headers["location"] === `/dashboard/payments/${row.id}`;
      assert.ok(isOne || found.text.includes(row.id), `found by ${text}`);
    }
    await assignEventSequences(api.world);
    assert.ok((await pages.get("/dashboard/events")).text.includes("payment_intent.created"));
  });

  test(
    "it works without JavaScript, is accessible and fits a phone",
    { skip: skipWithoutChromium || onlyDeep },
    async () => {
      const origin = `http://127.0.0.1:${await listenTestApi(api)}`;
      const context = await (
        await sharedBrowser()
      ).newContext({ bypassCSP: true, viewport: { width: 320, height: 700 } });
      const plain = await (await sharedBrowser()).newContext({ javaScriptEnabled: false });
      try {
        for (const each of [plain, context]) {
          const page = await each.newPage();
          await page.goto(`${origin}/dashboard`);
          if (each === context) await assertAccessible(page);
          await page.getByLabel("API key").fill(merchant.apiKey);
          await page.getByRole("button", { name: "Sign in" }).click();
          await page.getByRole("heading", { name: "Payments", level: 1 }).waitFor();
          const paths = ["/dashboard", "/dashboard/webhooks", "/dashboard/events", "/dashboard/search?q=nothing"];
          for (const path of each === plain ? [] : paths) {
            await page.goto(`${origin}${path}`);
            await assertAccessible(page);
            const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
            assert.equal(isWide, false, `no sideways scroll at 320 px: ${path}`);
          }
          await page.goto(`${origin}/dashboard/search?q=order-77`);
          await page.getByText("What happened").waitFor();
          if (each === context) await assertAccessible(page);
        }
      } finally {
        await context.close();
        await plain.close();
      }
    },
  );
});

describe("the dashboard while the database is away", () => {
  let database: FaultyDatabase;
  let api: TestApi;
  before(async () => {
    database = await openFaultyDatabase();
    api = await openTestApi(database.db);
  });
  after(async () => {
    database.heal();
    await api.server.close();
    await database.db.close();
  });

  test("each page says so, and comes back", async () => {
    const merchant = await api.openMerchant({ scopes: SCOPES });
    const { get } = await openPages(api, merchant);
    assert.equal((await get("/dashboard")).status, 200);
    database.failAfter(0, Object.assign(new Error("secret: ECONNREFUSED"), { code: "ECONNREFUSED" }));
    for (const path of ["/dashboard", "/dashboard/events", "/dashboard/payments/pi_1"]) {
      const page = await get(path);
      assert.equal(page.status, 503);
      assert.match(page.text, /The database does not answer/);
      assert.ok(!page.text.includes("secret"));
    }
    assert.equal((await signIn(api, merchant.apiKey)).status, 503);
    database.heal();
    assert.equal((await get("/dashboard")).status, 200);
  });
});
