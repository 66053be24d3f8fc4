import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

test("D3 an intent cannot be archived while a deposit awaits finality", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { id } = await merchant.insertIntent({ pending_count: 2 });
  const url = `/api/v1/intents/${id}`;
  const error = assertFault(await merchant.post(`${url}/archive`), 409, "intent_has_pending_deposits");
  assert.deepEqual([error.retryable, error.details], [true, { pendingCount: 2 }]);
  assert.equal((await merchant.get(url)).body.status, "active");
  const setPendingCount = (count: number) =>
    api.world.db.root.updateTable("intent").set({ pending_count: count }).where("id", "=", id).execute();
  await setPendingCount(1);
  assertFault(await merchant.post(`${url}/archive`), 409, "intent_has_pending_deposits");
  await setPendingCount(0);
  assert.equal((await merchant.post(`${url}/archive`)).status, 200);
});
