import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../support/api.ts";
import { createEndpoint, ENDPOINTS, openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 the list has all endpoints of the account in the order of their creation, and no secret", async () => {
  const { api, merchant, endpoint } = await openWebhookMerchant();
  await createEndpoint(await api.openMerchant({ scopes: ["webhooks:manage"] }));
  const second = await createEndpoint(merchant, { types: ["deposit.*"], description: "deposits" });
  const { body } = await merchant.get(ENDPOINTS);
  assert.deepEqual(body.data, [endpoint, second].map(withoutSecret));
});

function withoutSecret({ secret: _secret, ...shown }: Json): Json {
  return shown;
}
