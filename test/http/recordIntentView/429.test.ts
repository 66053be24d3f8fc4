import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";
import { limitsRate } from "../../support/everyOperation.ts";

limitsRate("recordIntentView");

test("§8.2, D23 recordIntentView: 30 calls in any 60 seconds for one intent, and others go on", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const [first, second] = [await merchant.insertIntent(), await merchant.insertIntent()];
  const view = (id: string) => merchant.post(`/api/v1/intents/${id}/view`);
  for (let index = 0; index < 30; index += 1) assert.equal((await view(first.id)).status, 202);
  const refused = await view(first.id);
  assertFault(refused, 429, "rate_limited");
  assert.equal(refused.headers["ratelimit-limit"], "30");
  assert.equal((await view(second.id)).status, 202);
  api.passTime(60_000);
  assert.equal((await view(first.id)).status, 202);
});
