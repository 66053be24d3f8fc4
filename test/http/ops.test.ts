import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createOpsCode } from "../../src/dashboard/opsSession.ts";
import { addOpsRoutes } from "../../src/http/ops/opsRoutes.ts";
import { buildServer } from "../../src/http/server.ts";
import { startMetricsServer } from "../../src/metrics/metricsServer.ts";
import { openTestApi, testApi, type Json, type Merchant, type TestApi, type TestResponse } from "../support/api.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { openFaultyDatabase, type FaultyDatabase } from "../support/faultyDatabase.ts";
import { randomAddress, TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { onlyDeep } from "../support/runNumber.ts";

const HOUR_MS = 3_600_000;
const DUSD = "0x00000000000000000000000000000000000c0d18";

async function signIn(api: TestApi, headers: Record<string, string> = {}): Promise<TestResponse> {
  const { code } = await createOpsCode(api.world);
  return postCode(api, code, headers);
}

function postCode(api: TestApi, code: string, headers: Record<string, string> = {}): Promise<TestResponse> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return api.send("/ops/sign-in", { method: "POST", headers: { ...type, ...headers }, body: `code=${code}` });
}

function cookieOf({ headers }: TestResponse): string {
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

describe("the operator's page", () => {
  let api: TestApi;
  let merchant: Merchant;
  let cookie: string;
  before(async () => {
    api = await testApi();
    merchant = await api.openMerchant();
    cookie = cookieOf(await signIn(api));
  });

  const get = (path: string) => api.send(path, { headers: { cookie } });

  test("a link opens it once, within ten minutes, for twelve hours", async () => {
    const { code } = await createOpsCode(api.world);
    for (let look = 0; look < 2; look += 1) {
      const page = await api.send(`/ops/sign-in?code=${code}`);
      assert.deepEqual([page.status, page.headers["set-cookie"]], [200, undefined], "a look uses nothing up");
    }
    const opened = await postCode(api, code);
    assert.deepEqual([opened.status, opened.headers["location"]], [303, "/ops"]);
    const set = String(opened.headers["set-cookie"]);
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/ops", "Max-Age=43200"])
      assert.ok(set.includes(part), set);
    assert.equal((await postCode(api, code)).status, 401, "the second time");
    assert.equal((await postCode(api, "ops_nonsense")).status, 401);
    const { code: late } = await createOpsCode(api.world);
    api.advanceTime(10 * 60_000);
    assert.equal((await postCode(api, late)).status, 401, "after ten minutes");
    const own = { headers: { cookie: cookieOf(opened) } };
    assert.equal((await api.send("/ops", own)).status, 200);
    const [expires = ""] = cookieOf(opened).slice("tributary_ops=".length).split(".");
    const forged = cookieOf(opened).replace(expires, String(Number(expires) + 1));
    assert.equal((await api.send("/ops/state", { headers: { cookie: forged } })).status, 401, "a changed expiry");
    api.advanceTime(12 * HOUR_MS);
    assert.equal((await api.send("/ops", own)).status, 401, "after twelve hours");
    cookie = cookieOf(await signIn(api));
  });

  test("without a session every path shows nothing, and another site opens none", async () => {
    for (const path of ["/ops", "/ops/state", "/ops/search?q=pi_1"]) {
      const refused = await api.send(path);
      assert.equal(refused.status, 401);
      assert.ok(!refused.text.includes("eip155"), refused.text);
    }
    api.advanceTime(60_000);
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example", host: "pay.example" }])
      assert.equal((await signIn(api, headers)).status, 401);
    api.advanceTime(60_000);
    const tries = await Promise.all(Array.from({ length: 11 }, () => postCode(api, "ops_wrong")));
    assert.equal(tries.filter(({ status }) => status === 429).length, 1, "ten tries a minute");
    api.advanceTime(60_000);
  });

  test("its policy allows nothing inline, and it names no secret", async () => {
    const page = await get("/ops");
    const policy = String(page.headers["content-security-policy"]);
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "trusted-types 'none'"])
      assert.ok(policy.includes(rule), policy);
    assert.equal(page.headers["cache-control"], "no-store");
    for (const { gasKey } of api.world.config.chains as readonly { gasKey?: string }[])
      if (gasKey !== undefined) assert.ok(!page.text.includes(gasKey.slice(2)), "the gas key");
    assert.ok(!/ style=| on\w+=|<style/.test(page.text), "nothing inline");
  });

  test("in a live installation it is beside the metrics and nowhere else", async () => {
    const world = { ...api.world, config: { ...api.world.config, environment: "live" as const } };
    const server = await buildServer(world);
    assert.equal((await server.inject({ url: "/ops" })).statusCode, 404);
    await server.close();
    const metrics = await startMetricsServer(world, { host: "127.0.0.1", port: 0 }, (each) =>
      addOpsRoutes(each, world),
    );
    assert.equal((await metrics.inject({ url: "/ops" })).statusCode, 401);
    assert.equal((await metrics.inject({ url: "/ops", headers: { cookie } })).statusCode, 200);
    await metrics.close();
  });

  test("it shows held money, and finds its intent by every id, address and hash", async () => {
    const created = await merchant.createIntent({ priceUnits: 25_000_000, oneTime: true });
    const { intentId, inboxAddress } = created;
    const sender = randomAddress();
    const chainTx = `0x${"ab".repeat(32)}`;
    const row = await api.world.db.root
      .selectFrom("intent")
      .selectAll()
      .where("id", "=", intentId)
      .executeTakeFirstOrThrow();
    await setHead(api.world.db, TEST_CHAIN, { number: 10n });
    await recordMovements(api.world.db, row, [
      { chainTx, amountUnits: 25n * 10n ** 18n, block: 11n, token: DUSD, counterparty: sender } as never,
    ]);
    await processMovements(api.world, TEST_CHAIN);
    api.advanceTime(3_000);
    const state: Json = (await get("/ops/state")).body;
    const held = state.held.shown.find((each: Json) => each.intentId === intentId);
    assert.deepEqual([held.amount, held.accountName], [{ decimal: "25", symbol: "DUSD" }, "Test"]);
    const deposit = await api.world.db.root
      .selectFrom("deposit")
      .selectAll()
      .where("intent_id", "=", intentId)
      .executeTakeFirstOrThrow();
    for (const text of [
      intentId,
      deposit.id,
      inboxAddress,
      deposit.sender,
      chainTx,
      merchant.accountId,
      ` ${intentId} `,
    ]) {
      const found = await get(`/ops/search?q=${encodeURIComponent(text)}`);
      assert.ok(found.text.includes(`npx tributary rescan ${intentId}`), `found by ${text}`);
    }
    for (const text of ["", "pi_unknown", "0x", "%00", "'; drop table intent; --", "x".repeat(300)])
      assert.match((await get(`/ops/search?q=${encodeURIComponent(text)}`)).text, /Nothing is found/);
  });

  test(
    "it works without JavaScript, follows with it, and is accessible",
    { skip: skipWithoutChromium || onlyDeep },
    async () => {
      const base = await api.server.listen({ host: "127.0.0.1", port: 0 }).catch(() => "");
      const origin = base === "" ? `http://127.0.0.1:${(api.server.server.address() as { port: number }).port}` : base;
      const browser = await sharedBrowser();
      for (const javaScriptEnabled of [false, true]) {
        const context = await browser.newContext({ javaScriptEnabled, bypassCSP: javaScriptEnabled });
        try {
          const page = await context.newPage();
          const errors: string[] = [];
          page.on("pageerror", ({ message }) => errors.push(message));
          const { code } = await createOpsCode(api.world);
          await page.goto(`${origin}/ops/sign-in?code=${code}`);
          await page.getByRole("button", { name: "Open the page" }).click();
          await page.waitForURL(`${origin}/ops`);
          assert.match(await page.locator("h1").innerText(), /All is well|need/);
          assert.equal(await page.locator(".road > li").count(), 8);
          if (javaScriptEnabled) {
            await page.getByText("every 5 s").waitFor();
            await assertAccessible(page);
            await page.setViewportSize({ width: 320, height: 700 });
            const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
            assert.equal(isWide, false, "no sideways scroll at 320 px");
            await page.keyboard.press("/");
            assert.equal(await page.evaluate(() => document.activeElement?.id), "q");
          }
          assert.deepEqual(errors, []);
        } finally {
          await context.close();
        }
      }
    },
  );
});

describe("the operator's page while the database is away", () => {
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

  test("it says so, with the alarm, and shows old numbers with their time", async () => {
    const cookie = cookieOf(await signIn(api));
    const get = (path: string) => api.send(path, { headers: { cookie } });
    assert.equal((await get("/ops/state")).body.failure, null);
    const away = new Error("secret: connect ECONNREFUSED 10.0.0.7");
    database.failAfter(0, Object.assign(away, { code: "ECONNREFUSED" }));
    api.advanceTime(31_000);
    const state: Json = (await get("/ops/state")).body;
    assert.equal(state.failure, "the database does not answer");
    assert.ok(state.ageMs > 30_000 && state.alarms.some(({ alarm }: Json) => alarm === "database_unavailable"));
    const page = await get("/ops");
    assert.match(page.text, /<h1 id="now">Not known<\/h1>/);
    database.heal();
    api.advanceTime(3_000);
    assert.equal((await get("/ops/state")).body.failure, null);
  });
});
