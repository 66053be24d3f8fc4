import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { createEndpoint, ENDPOINTS, openWebhookMerchant } from "../../support/webhookApi.ts";

test("D17 an Idempotency-Key that rotated one secret rotates no other", async () => {
  const { merchant, url } = await openWebhookMerchant();
  const { webhookEndpointId } = await createEndpoint(merchant);
  const headers = { "idempotency-key": "rotate-once" };
  await merchant.post(`${url}/rotate-secret`, {}, headers);
  const other = await merchant.post(`${ENDPOINTS}/${webhookEndpointId}/rotate-secret`, {}, headers);
  assertFault(other, 409, "idempotency_key_reuse");
});
