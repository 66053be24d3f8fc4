import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { createEndpoint, ENDPOINTS, openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 an account has at most 16 endpoints, also when they are created at once", async () => {
  const { merchant, url } = await openWebhookMerchant();
  await Promise.all(Array.from({ length: 20 }, () => createEndpoint(merchant)));
  assert.equal((await merchant.get(ENDPOINTS)).body.data.length, 16);
  const refused = assertFault(
    await merchant.post(ENDPOINTS, { url: "https://shop.example/" }),
    409,
    "webhook_endpoint_limit",
  );
  assert.deepEqual(refused.details, { limit: 16 });
  await merchant.sendBody("DELETE", url, { body: {} });
  assert.equal((await merchant.post(ENDPOINTS, { url: "https://shop.example/" })).status, 201);
});
