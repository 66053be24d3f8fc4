import assert from "node:assert/strict";
import { before, test } from "node:test";
import { pino } from "pino";
import type { CheckoutOrigins, Handoff, SessionResponse } from "@tributary/checkout/checkoutState";
import { addPageOrigin } from "../../src/merchant/pageOrigins.ts";
import { updateBrand } from "../../src/merchant/brand/updateBrand.ts";
import { cookieOf, openCheckout, sendSession, withCookie } from "../support/checkout.ts";
import {
  assertFault,
  openTestApi,
  OTHER_CHAIN_ID,
  SETTLE_CHAIN_ID,
  testApi,
  UNKNOWN_ID,
  type Json,
  type Merchant,
  type TestApi,
} from "../support/api.ts";
import { setHead } from "../support/movements.ts";

const SHOP = "https://shop.example";
const MINUTE_MS = 60_000;
const FORM = { "content-type": "application/x-www-form-urlencoded" };

let api: TestApi;
let merchant: Merchant;
before(async () => {
  api = await testApi();
  merchant = await api.openMerchant();
});

function postForm(intentId: string, fields: Record<string, string>) {
  const body = new URLSearchParams(fields).toString();
  return api.send(`/c/${intentId}/session`, { method: "POST", headers: FORM, body });
}

test("D38 a session outlives its token, lasts a day, and opens its own payment alone", async () => {
  const created = await merchant.createIntent({ payoutWallet: merchant.wallet });
  const page = await openCheckout(api, created);
  await merchant.createIntent({ payoutWallet: merchant.wallet });
  const { widgetToken } = created;
  const refused = assertFault(await sendSession(api, created.intentId, { widgetToken }), 401, "unauthorized");
  assert.deepEqual(refused.details, { reason: "replaced" });
  assert.equal((await page.get("state")).status, 200);
  const other = await merchant.createIntent();
  for (const path of ["state", "origins", "events"])
    assertFault(await withCookie(api, other.intentId, page.cookie).get(path), 401, "unauthorized");
  api.advanceTime(24 * 60 * MINUTE_MS);
  assert.deepEqual(assertFault(await page.get("state"), 401, "unauthorized").details, { reason: "expired" });
});

test("a refused credential says whether the link was replaced or opens nothing", async () => {
  const { intentId } = await merchant.createIntent();
  const reasonOf = async (id: string, body: object) =>
    assertFault(await sendSession(api, id, body), 401, "unauthorized").details.reason;
  const token = `wt_${"a".repeat(43)}`;
  assert.equal(await reasonOf(intentId, { widgetToken: token }), "replaced");
  assert.equal(await reasonOf(intentId, { widgetToken: "wt_short" }), "unknown");
  assert.equal(await reasonOf(UNKNOWN_ID, { widgetToken: token }), "unknown");
  assert.equal(await reasonOf(intentId, { code: "hc_x" }), "unknown");
  assert.equal(await reasonOf(intentId, { ticket: "et_1.x" }), "unknown");
  assertFault(await sendSession(api, intentId, { code: "x", ticket: "y" }), 400, "invalid_request");
});

test("D38 cookies are HttpOnly and Lax, with Secure behind https; in a frame None, Partitioned and Secure", async () => {
  const shop = await api.openMerchant();
  await addPageOrigin(api.world, { accountId: shop.accountId, origin: SHOP });
  const created = await shop.createIntent();
  const { intentId, widgetToken } = created;
  const own = String((await sendSession(api, intentId, { widgetToken })).headers["set-cookie"]);
  assert.match(own, new RegExp(`; Path=/c/${intentId}; Max-Age=86400; HttpOnly; SameSite=Lax$`));
  const headers = { origin: SHOP };
  const { ticket } = (await api.send(`/c/${intentId}/session`, { method: "POST", headers })).body;
  const framed = String((await sendSession(api, intentId, { ticket })).headers["set-cookie"]);
  assert.match(framed, /HttpOnly; SameSite=None; Partitioned; Secure$/);
  const { config } = api.world;
  const plain = config.baseUrl;
  Object.assign(config, { baseUrl: "https://pay.example" });
  const secure = String((await sendSession(api, intentId, { widgetToken })).headers["set-cookie"]);
  Object.assign(config, { baseUrl: plain });
  assert.match(secure, /SameSite=Lax; Secure$/);
});

test("D38 a frame without cookies keeps a bearer in memory, and gets its state with the session", async () => {
  const { intentId, widgetToken } = await merchant.createIntent({ priceUnits: 5_000_000 });
  const body = { widgetToken, storage: "memory", wantsState: true };
  const opened = await sendSession(api, intentId, body);
  assert.equal(opened.status, 200, opened.text);
  assert.equal(opened.headers["set-cookie"], undefined);
  const { bearer, state, origins } = opened.body as SessionResponse;
  assert.match(bearer ?? "", /^cs_/);
  assert.deepEqual([state?.intentId, state?.price, origins?.origins.length], [intentId, "5", 4]);
  const send = (authorization: string) => api.send(`/c/${intentId}/state`, { headers: { authorization } });
  assert.equal((await send(`Bearer ${bearer}`)).status, 200);
  assertFault(await send(`Bearer ${merchant.apiKey}`), 401, "unauthorized");
  assertFault(await send(`Bearer ${bearer?.slice(3)}`), 401, "unauthorized");
  const withState = await sendSession(api, intentId, { widgetToken, wantsState: true });
  assert.deepEqual([withState.status, withState.body.bearer], [200, null]);
  assert.match(cookieOf(withState), /^tributary_session=/);
});

test("a posted form answers with the page and a session, and a refused one with a page too", async () => {
  const { intentId, widgetToken } = await merchant.createIntent();
  const page = await postForm(intentId, { widgetToken });
  assert.deepEqual([page.status, page.headers["content-type"]], [200, "text/html; charset=utf-8"]);
  assert.equal((await withCookie(api, intentId, cookieOf(page)).get("state")).status, 200);
  assert.ok(!page.text.includes(widgetToken));
  const refused = await postForm(intentId, { widgetToken: `wt_${"a".repeat(43)}` });
  assert.deepEqual([refused.status, refused.headers["content-type"]], [401, "text/html; charset=utf-8"]);
  assert.equal(refused.headers["set-cookie"], undefined);
  assert.equal((await postForm(intentId, {})).status, 401);
  assertFault(await postForm(intentId, { widgetToken, other: "x" }), 400, "invalid_request");
});

test("origins are listed with the reason why one cannot be used", async () => {
  const created = await merchant.createIntent({ priceUnits: 5_000_000 });
  const { get } = await openCheckout(api, created);
  const reasonsOf = ({ origins }: CheckoutOrigins) =>
    origins.map(({ symbol, chainId, isIssuable, reason }) => [symbol, chainId, isIssuable, reason]);
  const head = { number: 10n };
  await setHead(api.world.db, `eip155:${SETTLE_CHAIN_ID}`, head);
  const setUpdated = (at: Date) =>
    api.world.db.root
      .updateTable("chain_cursor")
      .set({ updated_at: at })
      .where("chain", "=", `eip155:${SETTLE_CHAIN_ID}`)
      .execute();
  await setUpdated(api.world.clock.now());
  const healthy = (await get("origins")).body as CheckoutOrigins;
  assert.equal(healthy.isIssuable, true);
  assert.deepEqual(reasonsOf(healthy), [
    ["USDC", SETTLE_CHAIN_ID, true, null],
    ["DUSD", SETTLE_CHAIN_ID, false, "not_accepted"],
    ["USDC", OTHER_CHAIN_ID, false, "not_accepted"],
    ["DUSD", OTHER_CHAIN_ID, false, "not_accepted"],
  ]);
  const [own] = healthy.origins;
  assert.deepEqual([own?.isPayout, own?.isPayoutNetwork, own?.minimum], [true, true, "0.5"]);
  assert.deepEqual([own?.expectedSeconds, own?.feeUsdMax], [null, null], "this chain has no estimates");
  await setUpdated(new Date(0));
  const paused = (await get("origins")).body as CheckoutOrigins;
  assert.equal(paused.isIssuable, false);
  assert.deepEqual(reasonsOf(paused)[0], ["USDC", SETTLE_CHAIN_ID, false, "paused"]);
  await setUpdated(api.world.clock.now());
});

test("choosing an origin issues its inbox once, and the view of it is then recorded", async () => {
  const created = await merchant.createIntent({ priceUnits: 5_000_000 });
  const { get, post } = await openCheckout(api, created);
  const { origins } = (await get("origins")).body as CheckoutOrigins;
  const payout = origins.find(({ isPayout }) => isPayout);
  assert.ok(payout);
  const { originId } = payout;
  assert.deepEqual((await post("view", { originId })).body, { recorded: false }, "not issued yet");
  const inbox = await post("source-inbox", { originId });
  assert.equal(inbox.status, 201, inbox.text);
  assert.deepEqual([inbox.body.address, inbox.body.originIds], [created.inboxAddress, [originId]]);
  assert.deepEqual((await post("source-inbox", { originId })).body, inbox.body);
  const viewed = await post("view", { originId });
  assert.deepEqual([viewed.status, viewed.body], [202, { recorded: true }]);
  assert.deepEqual((await post("view")).body, { recorded: true });
  const other = origins.find(({ isPayout }) => !isPayout);
  assertFault(await post("source-inbox", { originId: other?.originId }), 503, "source_inbox_not_active");
  assertFault(await post("source-inbox", { originId: "eip155:1/erc20:0x0" }), 400, "unsupported_origin");
  assertFault(await post("source-inbox", {}), 400, "invalid_request");
  assertFault(await post("view", { selection: {} }), 400, "invalid_request");
});

test("D38 a handoff code opens the page elsewhere once, for its payment alone, within two minutes", async () => {
  const created = await merchant.createIntent();
  const { intentId } = created;
  const { post } = await openCheckout(api, created);
  const issue = async () => (await post("handoff", {})).body as Handoff;
  const open = (code: string, id = intentId) => sendSession(api, id, { code });

  const { code, url } = await issue();
  assert.equal(url, `http://127.0.0.1:8787/c/${intentId}?handoff=${code}`);
  const other = await merchant.createIntent();
  assertFault(await open(code, other.intentId), 401, "unauthorized");
  const elsewhere = await open(code);
  assert.equal(elsewhere.status, 204);
  assert.equal((await withCookie(api, intentId, cookieOf(elsewhere)).get("state")).status, 200);
  assert.deepEqual(assertFault(await open(code), 401, "unauthorized").details, { reason: "unknown" });

  const raced = await issue();
  const uses = await Promise.all([open(raced.code), open(raced.code), open(raced.code)]);
  assert.deepEqual(
    uses.map(({ status }) => status).toSorted((one, other) => one - other),
    [204, 401, 401],
  );

  const late = await issue();
  api.advanceTime(2 * MINUTE_MS - 1);
  assert.equal((await open(late.code)).status, 204);
  const expired = await issue();
  api.advanceTime(2 * MINUTE_MS);
  assertFault(await open(expired.code), 401, "unauthorized");
  assertFault(await api.send(`/c/${intentId}/handoff`, { method: "POST" }), 401, "unauthorized");
});

test("other sites cannot act through a payer's cookie", async () => {
  const created = await merchant.createIntent();
  const { post } = await openCheckout(api, created);
  for (const site of ["cross-site", "same-site"])
    for (const path of ["view", "handoff", "source-inbox"])
      assertFault(await post(path, {}, { "sec-fetch-site": site }), 401, "unauthorized");
  assert.equal((await post("view", {}, { "sec-fetch-site": "same-origin" })).status, 202);
});

test("the page's policy allows own files alone, and requires Trusted Types", async () => {
  const { intentId } = await merchant.createIntent();
  const { headers } = await api.send(`/c/${intentId}`);
  const policy = String(headers["content-security-policy"]).split("; ");
  for (const directive of [
    "default-src 'none'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "frame-ancestors 'none'",
  ])
    assert.ok(policy.includes(directive), directive);
  for (const name of ["script-src", "style-src"])
    assert.match(policy.find((directive) => directive.startsWith(name)) ?? "", /^\S+ 'self'(?: 'sha256-[^']+')*$/);
  assert.doesNotMatch(policy.join(), /unsafe|http|\*/);
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.equal(headers["x-content-type-options"], "nosniff");
});

test("the page answers for an unknown payment and while the brand is unknown", async () => {
  assert.equal((await api.send(`/c/${UNKNOWN_ID}`)).status, 200);
  await updateBrand(api.world, merchant.accountId, { accent: "#0f5470" });
  const { intentId } = await merchant.createIntent();
  assert.equal((await api.send(`/c/${intentId}?locale=xx&theme=<script>&mode=other&handoff=hc_x`)).status, 200);
});

test("public routes are limited by session and by address", async () => {
  const limited = await api.openMerchant();
  const created = await limited.createIntent();
  const page = await openCheckout(api, created);
  const statuses: number[] = [];
  for (let count = 0; count < 11; count += 1) statuses.push((await page.post("handoff", {})).status);
  assert.deepEqual([...new Set(statuses.slice(0, 10))], [201]);
  assert.equal(statuses[10], 429);
  const refused = await page.post("handoff", {});
  assertFault(refused, 429, "rate_limited");
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  assert.equal((await page.get("state")).status, 200, "each route has a limit of its own");
  const second = await openCheckout(api, await limited.createIntent());
  assert.equal((await second.post("handoff", {})).status, 201, "another session");
  api.advanceTime(MINUTE_MS);
  assert.equal((await page.post("handoff", {})).status, 201);
});

test("no answer of the page's routes has the metadata, the reference or a token", async () => {
  const secrets: Json = { merchantReference: "secret-1", metadata: { a: "secret-2" } };
  const created = await merchant.createIntent(secrets);
  const page = await openCheckout(api, created);
  const answers = [
    await page.get("state"),
    await page.get("origins"),
    await api.send(`/c/${created.intentId}`, { headers: { cookie: page.cookie } }),
    await page.post("handoff", {}),
  ];
  for (const { text } of answers) assert.ok(!/secret-\d/.test(text) && !text.includes(created.widgetToken));
});

test("no credential of the page reaches the log", async () => {
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const logged = await openTestApi(api.world.db, { log });
  const created = await merchant.createIntent();
  const page = await openCheckout(logged, created);
  const { code } = (await page.post("handoff", {})).body as Handoff;
  await logged.send(`/c/${created.intentId}?handoff=${code}`);
  await sendSession(logged, created.intentId, { code });
  await sendSession(logged, created.intentId, { code });
  await page.post("source-inbox", { originId: "x" });
  logged.world.log.info("the last line");
  await logged.server.close();
  const text = lines.join("");
  assert.match(text, /the last line/);
  for (const secret of [created.widgetToken, code, page.cookie.split("=")[1] ?? ""]) assert.ok(!text.includes(secret));
});
