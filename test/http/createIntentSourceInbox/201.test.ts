import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi } from "../../support/api.ts";

test("§4.5.1, §4.5.2, §4.5.3, §2.5 the inbox of an origin is an address that every later call returns again", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId, inboxAddress } = await merchant.createIntent();
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  const first = await merchant.post(url, { chainId: 31337 });
  assert.equal(first.status, 201);
  assert.deepEqual(first.body, { address: inboxAddress, caip10: `eip155:31337:${inboxAddress}` });
  const others = await Promise.all([1, 2, 3].map(() => merchant.post(url, { chainId: 31337 })));
  for (const other of others) assert.deepEqual([other.status, other.body], [201, first.body]);
});

test("§4.5.4 create binds a customer to the intent, and the inbox is issued for it", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  const intent = await api.world.db.read
    .selectFrom("intent")
    .selectAll()
    .where("id", "=", intentId)
    .executeTakeFirstOrThrow();
  assert.ok(intent.customer_bound_at instanceof Date);
  const { body } = await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
  assert.equal(
    body.address.toLowerCase(),
    intent.inbox_address,
    "the intent's own address: one intent is one customer",
  );
});

test("D29 an inbox once issued is returned also when the intent is settled", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent({ oneTime: true, priceUnits: 5 });
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  const { body } = await merchant.post(url, { chainId: 31337 });
  const settled = { status: "settled" as const, settled_at: api.world.clock.now() };
  await api.world.db.read.updateTable("intent").set(settled).where("id", "=", intentId).execute();
  const again = await merchant.post(url, { chainId: 31337 });
  assert.deepEqual([again.status, again.body], [201, body]);
});
