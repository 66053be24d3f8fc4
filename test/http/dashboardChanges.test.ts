import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { revokeKey } from "../../src/merchant/keys/revokeKey.ts";
import {
  CREATE_INTENTS,
  MANAGE_DASHBOARD,
  MANAGE_CHECKOUT,
  MANAGE_WEBHOOKS,
  READ_DASHBOARD,
  READ_EVENTS,
} from "../../src/merchant/keys/scopes.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { listenTestApi, testApi, type Merchant, type TestApi } from "../support/api.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { FORM, formToken, openPages } from "../support/dashboard.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";

const SCOPES = [CREATE_INTENTS, MANAGE_WEBHOOKS, READ_EVENTS, READ_DASHBOARD];

async function readEvents(merchant: Merchant): Promise<string[]> {
  const { body } = await merchant.get("/api/v1/events");
  return (body.data as { id: string }[]).map(({ id }) => id);
}

describe("what changes in the dashboard", () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  test("a key that may change things manages the endpoints, and a form from elsewhere changes nothing", async () => {
    const own = await api.openMerchant({ scopes: [...SCOPES, MANAGE_DASHBOARD] });
    const pages = await openPages(api, own);
    const list = await pages.get("/dashboard/webhooks");
    const token = formToken(list);
    const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      api.send(`/dashboard/webhooks${path}`, {
        method: "POST",
        headers: { ...FORM, cookie: pages.cookie, ...headers },
        body: new URLSearchParams({ token, ...fields }).toString(),
      });
    const addition = { url: "https://shop.example/hook", types: "payment_intent.*, deposit.held" };
    const endpoints = async () =>
      (await own.get("/api/v1/webhook-endpoints")).body.data as { url: string; status: string; types: string[] }[];

    for (const [refused, status] of [
      [await post("", { ...addition, token: "x" }), 403],
      [await post("", addition, { "sec-fetch-site": "cross-site" }), 403],
      [await post("", addition, { origin: "https://evil.example" }), 403],
      [await post("", addition, { cookie: "" }), 401],
      [await post("", { ...addition, url: "http://169.254.169.254/" }), 400],
      [await post("", { ...addition, types: "payment.*" }), 400],
    ] as const)
      assert.equal(refused.status, status);
    const wrong = await post("", { ...addition, types: "payment.*" });
    assert.ok(
      wrong.text.includes('role="alert"') && wrong.text.includes(addition.url),
      "the reason, and what was entered",
    );
    const reader = await api.openMerchant({ scopes: SCOPES });
    const readerPages = await openPages(api, reader);
    const readerList = await readerPages.get("/dashboard/webhooks");
    assert.ok(!readerList.text.includes('name="url"'), "a key that only reads sees no form");
    const readerToken = formToken(readerList);
    assert.equal((await post("", { ...addition, token: readerToken }, { cookie: readerPages.cookie })).status, 403);
    assert.deepEqual(await endpoints(), []);

    const created = await post("", addition);
    assert.match(created.text, /whsec_[A-Za-z0-9+/]{43}=/);
    const id = /\/dashboard\/webhooks\/(we_\w+)/.exec(created.text)?.[1] ?? "";
    assert.deepEqual(
      (await endpoints()).map(({ url, types }) => [url, types]),
      [["https://shop.example/hook", ["payment_intent.*", "deposit.held"]]],
    );
    assert.ok(!(await pages.get(`/dashboard/webhooks/${id}`)).text.includes("whsec_"), "the secret is shown once");
    assert.equal((await post(`/${id}/test`, {})).headers["location"], `/dashboard/webhooks/${id}?done=tested`);
    assert.match((await pages.get(`/dashboard/webhooks/${id}?done=tested`)).text, /webhook_endpoint\.test[^]*pending/);
    await own.createIntent({ priceUnits: 1_000_000 });
    await assignEventSequences(api.world);
    const [event] = await readEvents(own);
    assert.equal((await post(`/${id}/redeliver`, { eventId: event ?? "" })).status, 303);
    assert.ok((await pages.get(`/dashboard/webhooks/${id}`)).text.includes(`value="${event}"`), "it is queued again");
    assert.equal((await post(`/${id}`, { url: "https://shop.example/other", types: "*" })).status, 303);
    assert.equal((await post(`/${id}/disable`, {})).status, 303);
    assert.deepEqual(
      (await endpoints()).map(({ url, status }) => [url, status]),
      [["https://shop.example/other", "disabled"]],
    );
    assert.equal((await post(`/${id}/test`, {})).status, 409, "none is sent while it is off");
    assert.match((await post(`/${id}/rotate`, {})).text, /whsec_/);

    const foreign = await openPages(api, await api.openMerchant({ scopes: [...SCOPES, MANAGE_DASHBOARD] }));
    const foreignToken = formToken(await foreign.get("/dashboard/webhooks"));
    for (const action of ["", "/enable", "/disable", "/rotate", "/test", "/redeliver", "/delete"]) {
      const fields = { token: foreignToken, url: "https://evil.example/", types: "*", eventId: event ?? "" };
      assert.equal((await post(`/${id}${action}`, fields, { cookie: foreign.cookie })).status, 404, action);
    }
    assert.equal((await post(`/${id}/delete`, {})).headers["location"], "/dashboard/webhooks?done=deleted");
    assert.deepEqual(await endpoints(), []);
  });

  test("it changes how the checkout looks and which pages embed it, as the API shows", async () => {
    const own = await api.openMerchant({ scopes: [...SCOPES, MANAGE_DASHBOARD, MANAGE_CHECKOUT] });
    const pages = await openPages(api, own);
    const token = formToken(await pages.get("/dashboard/checkout"));
    const post = (path: string, fields: Record<string, string>) =>
      api.send(`/dashboard/checkout${path}`, {
        method: "POST",
        headers: { ...FORM, cookie: pages.cookie },
        body: new URLSearchParams({ token, ...fields }).toString(),
      });
    const looks = {
      accent: "#7A1F3D",
      accentDark: "",
      radius: "12",
      font: "Inter, sans-serif",
      support: "help@shop.example",
    };
    assert.equal((await post("", looks)).headers["location"], "/dashboard/checkout?done=saved");
    const { brand, support } = (await own.get("/api/v1/account")).body;
    assert.deepEqual([brand.accent, brand.radius, support], ["#7a1f3d", 12, "mailto:help@shop.example"]);
    const wrong = await post("", { ...looks, accent: "red;}" });
    assert.equal(wrong.status, 400);
    assert.ok(
      wrong.text.includes('role="alert"') && wrong.text.includes('value="red;}"'),
      "the reason, and what was entered",
    );
    assert.equal((await post("", { ...looks, radius: "1e9" })).status, 400);
    assert.equal((await post("/origins", { origins: "https://shop.example\nhttps://www.shop.example/" })).status, 303);
    const origins = ["https://shop.example", "https://www.shop.example"];
    assert.deepEqual((await own.get("/api/v1/page-origins")).body, { origins });
    assert.equal((await post("/origins", { origins: "javascript:alert(1)" })).status, 400);
    assert.deepEqual((await own.get("/api/v1/page-origins")).body, { origins });
    assert.match((await pages.get("/dashboard/audit")).text, /checkout\.origins_changed[^]*checkout\.looks_changed/);
  });

  test("an open page follows, and its list moves no row under the reader", { skip: skipWithoutChromium }, async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const origin = `http://127.0.0.1:${await listenTestApi(api)}`;
    const first = await own.createIntent({ priceUnits: 1_000_000, merchantReference: "first" });
    const context = await (await sharedBrowser()).newContext();
    try {
      const page = await context.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      const look = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await page.goto(`${origin}/dashboard`);
      await page.getByLabel("API key").fill(own.apiKey);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("link", { name: "first" }).waitFor();
      for (const merchantReference of ["second", "third"])
        await own.createIntent({ priceUnits: 2_000_000, merchantReference });
      await look();
      await page.getByText("2 newer.").waitFor();
      assert.equal(await page.getByRole("link", { name: "second" }).count(), 0, "no row was inserted");
      await page.getByRole("link", { name: "Show", exact: true }).click();
      await page.getByRole("link", { name: "third" }).waitFor();

      await page.goto(`${origin}/dashboard/payments/${first.intentId}`);
      await page.getByText("Computed again in this browser").waitFor();
      const { db } = api.world;
      await db.root
        .updateTable("intent")
        .set({ status: "archived", archived_at: new Date() })
        .where("id", "=", first.intentId)
        .execute();
      await look();
      await page.locator(".slip").getByText("archived").waitFor();
      await page.getByText("Computed again in this browser").waitFor();
      await revokeKey(api.world, own.keyId);
      await look();
      await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
      assert.deepEqual(errors, []);
    } finally {
      await context.close();
    }
  });
});
