import assert from "node:assert/strict";
import { test } from "node:test";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { readFeedOf } from "../../support/events.ts";
import { assertFault, SETTLE_CHAIN_ID, testApi, type Merchant, type TestApi } from "../../support/api.ts";

const URL = "/api/v1/intents";

async function eventsOf(api: TestApi, merchant: Merchant, intentId: string) {
  await assignEventSequences(api.world);
  return readFeedOf(api.world.db, { accountId: merchant.accountId, intentId });
}

test("D3 an archived intent shows its status and time, and is still read and listed", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { widgetToken, ...created } = await merchant.createIntent({ priceUnits: 5, merchantReference: "order 7" });
  api.advanceTime(1_000);
  const { status, body, text } = await merchant.post(`${URL}/${created.intentId}/archive`);
  const at = api.world.clock.now().toISOString();
  assert.equal(status, 200);
  assert.deepEqual(body, { ...created, created: false, status: "archived", archivedAt: at, updatedAt: at });
  assert.ok(!text.includes(widgetToken) && !text.includes("widgetToken"));
  assert.deepEqual((await merchant.get(`${URL}/${created.intentId}`)).body, body);
  assert.deepEqual((await merchant.get(URL)).body.data, [body]);
});

test("D32 archiving emits one event with the changes; a repeat returns the same record", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId, updatedAt } = await merchant.createIntent();
  api.advanceTime(1_000);
  const first = await merchant.post(`${URL}/${intentId}/archive`, {});
  api.advanceTime(1_000);
  const again = await merchant.post(`${URL}/${intentId}/archive`, {});
  assert.deepEqual([again.status, again.body], [200, first.body]);
  const events = await eventsOf(api, merchant, intentId);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["payment_intent.created", "payment_intent.archived"],
  );
  const { object, previous } = events[1]?.data ?? {};
  assert.deepEqual(object, first.body);
  assert.deepEqual(previous, { status: "active", archivedAt: null, updatedAt });
});

test("D3 archiving frees the destination", async () => {
  const merchant = await (await testApi()).openMerchant();
  const first = await merchant.createIntent({ payoutWallet: merchant.wallet, priceUnits: 5 });
  assertFault(await merchant.post(URL, { payoutWallet: merchant.wallet }), 409, "destination_conflict");
  assert.equal((await merchant.post(`${URL}/${first.intentId}/archive`)).status, 200);
  const next = await merchant.createIntent({ payoutWallet: merchant.wallet });
  assert.equal(next.created, true);
  assert.notEqual(next.intentId, first.intentId);
});

test("D3 an archived intent returns 404 on origins, view and source-inbox", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const inbox = () => merchant.post(`${URL}/${intentId}/source-inbox`, { chainId: SETTLE_CHAIN_ID });
  assert.equal((await inbox()).status, 201);
  await merchant.post(`${URL}/${intentId}/archive`);
  assertFault(await merchant.get(`${URL}/${intentId}/origins`), 404, "not_found");
  assertFault(await merchant.post(`${URL}/${intentId}/view`, {}), 404, "not_found");
  assertFault(await inbox(), 404, "not_found");
});

test("D3 a settled intent may be archived and keeps its settledAt", async () => {
  const merchant = await (await testApi()).openMerchant();
  const settledAt = new Date("2026-11-01T12:00:00Z");
  const columns = { one_time: true, price_token_units: 5n, status: "settled", settled_at: settledAt } as const;
  const { id } = await merchant.insertIntent(columns);
  const { body } = await merchant.post(`${URL}/${id}/archive`);
  assert.deepEqual([body.status, body.settledAt], ["archived", settledAt.toISOString()]);
});
