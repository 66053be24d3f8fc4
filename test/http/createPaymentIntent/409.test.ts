import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/intents";

test("§4.2.6 other terms for an occupied destination conflict and write nothing", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { wallet: payoutWallet } = merchant;
  const { widgetToken, ...first } = await merchant.createIntent({ payoutWallet, priceUnits: 5, oneTime: true });
  assert.ok(widgetToken);
  const unchanged = { ...first, created: false };
  for (const terms of [{ priceUnits: 6, oneTime: true }, { priceUnits: 5 }, {}]) {
    // A later write would show a different time.
    api.advanceTime(1_000);
    const more = { ...terms, merchantReference: "order 8", metadata: { n: 8 } };
    const error = assertFault(await merchant.post(URL, { payoutWallet, ...more }), 409, "destination_conflict");
    assert.equal(error.details.intentId, first.intentId);
    assert.deepEqual((await merchant.get(`${URL}/${first.intentId}`)).body, unchanged);
  }
  assert.deepEqual((await merchant.get(URL)).body.data, [unchanged]);
});

test("D18 after a conflict the old widget token still works", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId, widgetToken } = await merchant.createIntent({ payoutWallet: merchant.wallet });
  assertFault(await merchant.post(URL, { payoutWallet: merchant.wallet, priceUnits: 5 }), 409, "destination_conflict");
  const headers = { "content-type": "application/json" };
  const opened = await api.send(`/c/${intentId}/session`, { method: "POST", headers, body: { widgetToken } });
  assert.equal(opened.status, 204);
});
