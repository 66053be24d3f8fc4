import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, type Json } from "../../support/api.ts";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 deliveries are listed newest first, page by page and by status", async () => {
  const { merchant, url } = await openWebhookMerchant();
  const sent: string[] = [];
  for (let count = 0; count < 3; count += 1) sent.unshift((await merchant.post(`${url}/test`)).body.id);
  const { body: first } = await merchant.get(`${url}/deliveries?limit=2`);
  const { body: second } = await merchant.get(`${url}/deliveries?limit=2&cursor=${first.next_cursor}`);
  const ids = [...first.data, ...second.data].map(({ eventId }: Json) => eventId);
  assert.deepEqual([ids, first.has_more, second.has_more], [sent, true, false]);
  assert.deepEqual((await merchant.get(`${url}/deliveries?status=succeeded`)).body.data, []);
  assert.deepEqual(first.data[0].attempts, []);
  assertFault(await merchant.get(`/api/v1/intents?cursor=${first.next_cursor}`), 400, "invalid_cursor");
});
