import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/intents";

test("§4.2.6 other terms for an occupied destination are refused, and nothing is written", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { wallet: payoutWallet } = merchant;
  const first = await merchant.createIntent({ payoutWallet, priceUnits: 5, oneTime: true });
  for (const terms of [{ priceUnits: 6, oneTime: true }, { priceUnits: 5 }, {}]) {
    const error = assertFault(await merchant.post(URL, { payoutWallet, ...terms }), 409, "destination_conflict");
    assert.equal(error.details.intentId, first.intentId);
  }
  const { body } = await merchant.get(URL);
  assert.deepEqual(
    body.data.map((intent: { intentId: string }) => intent.intentId),
    [first.intentId],
  );
  const { body: now } = await merchant.get(`${URL}/${first.intentId}`);
  assert.equal(now.updatedAt, first.updatedAt);
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
