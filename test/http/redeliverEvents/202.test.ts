import assert from "node:assert/strict";
import { test } from "node:test";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { assertFault } from "../../support/api.ts";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 an event or a range is delivered again, and a wrong selection is refused", async () => {
  const { api, merchant, url } = await openWebhookMerchant();
  for (let count = 0; count < 3; count += 1) await merchant.createIntent();
  while (!(await assignEventSequences(api.world)).isDone);
  const { body: feed } = await merchant.get("/api/v1/events");
  const redeliver = (body: object) => merchant.post(`${url}/redeliver`, body);
  assert.deepEqual((await redeliver({ fromSequence: 1, toSequence: 2 })).body, { count: 2 });
  const one = await redeliver({ eventId: feed.data[2].id });
  assert.deepEqual([one.status, one.body], [202, { count: 1 }]);
  const { body: deliveries } = await merchant.get(`${url}/deliveries?eventId=${feed.data[2].id}`);
  assert.deepEqual(
    deliveries.data.map((each: { sequence: number; isReplay: boolean }) => [each.sequence, each.isReplay]),
    [[3, true]],
  );
  for (const body of [
    {},
    { eventId: "evt_x" },
    { fromSequence: 1 },
    { fromSequence: 2, toSequence: 1 },
    { fromSequence: 1, toSequence: 10_001 },
    { eventId: feed.data[2].id, fromSequence: 1, toSequence: 2 },
  ])
    assertFault(await redeliver(body), 400, "invalid_request");
});
