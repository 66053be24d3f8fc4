import assert from "node:assert/strict";
import { before, test } from "node:test";
import { assertFault, testApi, type Merchant, type TestApi } from "../support/api.ts";
import { openCheckout, sendSession } from "../support/checkout.ts";

// What somebody without a credential can do to payers and to the process.

const PAYER = "198.51.100.7";
const HTML = { accept: "text/html" };
/** The limit of requests before there is a session. */
const PER_VISITOR = 120;

let api: TestApi;
let merchant: Merchant;
before(async () => {
  api = await testApi();
  merchant = await api.openMerchant();
});

test("a text that is no intent's id gets the page of an unknown payment, and counts against no limit", async () => {
  const { intentId } = await merchant.createIntent();
  const remoteAddress = "203.0.113.9";
  const texts = [
    "x",
    intentId.slice(0, -1),
    `${intentId}0`,
    `pi_${"i".repeat(26)}`,
    intentId.toUpperCase(),
    "a".repeat(16_000),
  ];
  for (const text of texts) {
    const page = await api.send(`/c/${text}`, { headers: HTML, remoteAddress });
    assert.equal(page.status, 404);
    assert.match(String(page.headers["content-type"]), /text\/html/);
    assert.ok(!page.text.includes(text) || text === "x", "the address is not repeated");
    assert.match(page.text, /data-stage="refused"|refused/);
    assertFault(await api.send(`/c/${text}`, { remoteAddress }), 404, "not_found");
    for (const path of ["session", "state", "logo", "solana-pay"])
      assertFault(await api.send(`/c/${text}/${path}`, { remoteAddress }), 404, "not_found");
  }
  for (let count = 0; count < 1_300; count += 1) await api.send(`/c/pi_${count}`, { remoteAddress });
  assert.equal((await api.send(`/c/${intentId}`, { remoteAddress })).status, 200);
});

test("whoever knows an intent's id cannot lock its payer out", async () => {
  const created = await merchant.createIntent();
  const { intentId, widgetToken } = created;
  const stranger = "203.0.113.77";
  for (const path of ["", "/logo", "/solana-pay"]) {
    const url = `/c/${intentId}${path}`;
    let refused = 0;
    for (let count = 0; count <= PER_VISITOR; count += 1)
      if ((await api.send(url, { remoteAddress: stranger })).status === 429) refused += 1;
    assert.ok(refused > 0, `${url} is limited`);
    assert.notEqual((await api.send(url, { remoteAddress: PAYER })).status, 429, url);
  }
  const json = { "content-type": "application/json" };
  const guess = { method: "POST", headers: json, body: { widgetToken: "wt_wrong" }, remoteAddress: stranger };
  for (let count = 0; count < PER_VISITOR; count += 1) await api.send(`/c/${intentId}/session`, guess);
  assertFault(await api.send(`/c/${intentId}/session`, guess), 429, "rate_limited");
  const opened = await api.send(`/c/${intentId}/session`, { ...guess, body: { widgetToken }, remoteAddress: PAYER });
  assert.equal(opened.status, 204, opened.text);
  assert.equal((await sendSession(api, intentId, { widgetToken })).status, 204);
  assert.equal((await (await openCheckout(api, created)).get("state")).status, 200);
});
