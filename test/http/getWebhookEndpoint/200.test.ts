import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 an endpoint is shown to its own account alone, without its secret", async () => {
  const { api, merchant, endpoint, url } = await openWebhookMerchant();
  const { secret: _, ...shown } = endpoint;
  assert.deepEqual((await merchant.get(url)).body, shown);
  const stranger = await api.openMerchant({ scopes: ["webhooks:manage"] });
  for (const [method, path] of [
    ["GET", url],
    ["PATCH", url],
    ["DELETE", url],
    ["POST", `${url}/rotate-secret`],
    ["POST", `${url}/test`],
    ["GET", `${url}/deliveries`],
  ] as const) {
    const answered = method === "GET" ? await stranger.get(path) : await stranger.sendBody(method, path, { body: {} });
    assert.equal(assertFault(answered, 404, "not_found").message, "No such webhook endpoint.");
  }
  const replay = await stranger.post(`${url}/redeliver`, { fromSequence: 1, toSequence: 1 });
  assert.equal(assertFault(replay, 404, "not_found").message, "No such webhook endpoint.");
});
