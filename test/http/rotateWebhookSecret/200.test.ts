import assert from "node:assert/strict";
import { test } from "node:test";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a rotation shows a new secret once", async () => {
  const { merchant, endpoint, url } = await openWebhookMerchant();
  const { secret, ...shown } = endpoint;
  const rotated = await merchant.post(`${url}/rotate-secret`);
  assert.equal(rotated.status, 200);
  assert.deepEqual({ ...rotated.body, secret }, endpoint);
  assert.notEqual(rotated.body.secret, secret);
  assert.deepEqual((await merchant.get(url)).body, shown);
});
