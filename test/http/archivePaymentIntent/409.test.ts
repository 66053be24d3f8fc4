import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

test("D3 while a deposit is seen and not final the intent stays, and then it may be archived", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { id } = await merchant.insertIntent({ pending_count: 2 });
  const url = `/api/v1/intents/${id}`;
  const error = assertFault(await merchant.post(`${url}/archive`), 409, "intent_has_pending_deposits");
  assert.deepEqual([error.retryable, error.details], [true, { pendingCount: 2 }]);
  assert.equal((await merchant.get(url)).body.status, "active");
  const pend = (count: number) =>
    api.world.db.root.updateTable("intent").set({ pending_count: count }).where("id", "=", id).execute();
  await pend(1);
  assertFault(await merchant.post(`${url}/archive`), 409, "intent_has_pending_deposits");
  await pend(0);
  assert.equal((await merchant.post(`${url}/archive`)).status, 200);
});
