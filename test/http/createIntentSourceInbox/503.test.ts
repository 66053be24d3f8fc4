import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, OTHER_CHAIN_ID, testApi } from "../../support/api.ts";
import { survivesFailures } from "../../support/everyOperation.ts";

survivesFailures("createIntentSourceInbox");

test("§7.3.3, §1.7 an origin that cannot reach the payout is not active, and says not to wait", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const answered = await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: OTHER_CHAIN_ID });
  assert.equal(assertFault(answered, 503, "source_inbox_not_active").retryable, false);
  assert.equal(answered.headers["retry-after"], undefined);
});

test("D29 a settled intent gets no new inbox", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const settled = {
    one_time: true,
    price_token_units: 5n,
    status: "settled" as const,
    settled_at: api.world.clock.now(),
  };
  const { id } = await merchant.insertIntent(settled);
  assertFault(
    await merchant.post(`/api/v1/intents/${id}/source-inbox`, { chainId: 31337 }),
    503,
    "source_inbox_not_active",
  );
});

test("§7.3.4 a customer that is not bound yet is worth a short wait", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { id } = await merchant.insertIntent({ customer_bound_at: null });
  const answered = await merchant.post(`/api/v1/intents/${id}/source-inbox`, { chainId: 31337 });
  assert.equal(assertFault(answered, 503, "customer_not_bound").retryable, true);
  assert.equal(answered.headers["retry-after"], "2");
});
