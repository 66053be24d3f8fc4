import assert from "node:assert/strict";
import { test } from "node:test";
import { ENDPOINTS, openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a new endpoint is enabled, takes every type, and shows its secret once", async () => {
  const { merchant, endpoint, url } = await openWebhookMerchant();
  const { secret, webhookEndpointId, createdAt, ...rest } = endpoint;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.match(webhookEndpointId, /^we_/);
  assert.deepEqual(rest, {
    object: "webhook_endpoint",
    url: "https://shop.example/hooks",
    types: ["*"],
    description: null,
    status: "enabled",
    disabledReason: null,
    failingSince: null,
  });
  const shown = { webhookEndpointId, createdAt, ...rest };
  assert.deepEqual((await merchant.get(url)).body, shown);
  assert.deepEqual((await merchant.get(ENDPOINTS)).body, { object: "list", data: [shown] });
});
