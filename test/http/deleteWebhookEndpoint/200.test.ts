import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { ENDPOINTS, openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a deleted endpoint is gone", async () => {
  const { merchant, url } = await openWebhookMerchant();
  const answered = await merchant.sendBody("DELETE", url, { body: {} });
  assert.deepEqual([answered.status, answered.body], [200, { deleted: true }]);
  assertFault(await merchant.get(url), 404, "not_found");
  assertFault(await merchant.sendBody("DELETE", url, { body: {} }), 404, "not_found");
  assert.deepEqual((await merchant.get(ENDPOINTS)).body.data, []);
});
