import assert from "node:assert/strict";
import { test } from "node:test";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a test event is queued for this endpoint and stands in no feed", async () => {
  const { merchant, endpoint, url } = await openWebhookMerchant();
  const { secret: _, ...shown } = endpoint;
  const { status, body } = await merchant.post(`${url}/test`);
  assert.deepEqual([status, body.type, body.sequence, body.data.object], [202, "webhook_endpoint.test", 0, shown]);
  const { body: deliveries } = await merchant.get(`${url}/deliveries`);
  assert.deepEqual(
    deliveries.data.map((each: { eventId: string; status: string }) => [each.eventId, each.status]),
    [[body.id, "pending"]],
  );
  assert.deepEqual((await merchant.get("/api/v1/events")).body.data, []);
});
