import assert from "node:assert/strict";
import { test } from "node:test";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { assertFault, testApi, UNKNOWN_ID } from "../../support/api.ts";

test("D34 one event is shown as the feed shows it, and keeps its bytes when its intent changes", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  while (!(await assignEventSequences(api.world)).isDone);
  const { body: feed } = await merchant.get("/api/v1/events");
  const url = `/api/v1/events/${feed.data[0].id}`;
  const before = await merchant.get(url);
  assert.deepEqual([before.status, before.body], [200, feed.data[0]]);
  await merchant.post(`/api/v1/intents/${intentId}/archive`);
  assert.equal((await merchant.get(url)).text, before.text);
  for (const id of ["evt_x", UNKNOWN_ID, "x".repeat(300), "%00"])
    assert.equal(assertFault(await merchant.get(`/api/v1/events/${id}`), 404, "not_found").message, "No such event.");
});
