import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";
import { CLUSTER, createSolanaIntent, remoteGateApi, MINT, SOLANA_WALLET } from "../../support/remoteGateApi.ts";

test("§4.5.1, §4.5.2, §4.5.3, §2.5 every call returns the same inbox address for an origin", async () => {
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
  const intent = await api.world.db.root
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

test("D29 an issued inbox is still returned after the intent settles", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent({ oneTime: true, priceUnits: 5 });
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  const { body } = await merchant.post(url, { chainId: 31337 });
  const settled = { status: "settled" as const, settled_at: api.world.clock.now() };
  await api.world.db.root.updateTable("intent").set(settled).where("id", "=", intentId).execute();
  const again = await merchant.post(url, { chainId: 31337 });
  assert.deepEqual([again.status, again.body], [201, body]);
});

test("§4.5.1, §4.5.3 on Solana the gate issues the address for a cluster and mint, shown byte for byte", async () => {
  const { api, remote } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const intentId = await createSolanaIntent(merchant);
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  const name = { namespace: "solana", reference: CLUSTER, mint: MINT };
  const first = await merchant.post(url, name);
  assert.equal(first.status, 201, first.text);
  assert.equal(first.body.caip10, `solana:${CLUSTER}:${first.body.address}`);
  const others = await Promise.all([1, 2, 3].map(() => merchant.post(url, name)));
  for (const other of others) assert.deepEqual([other.status, other.body], [201, first.body]);
  assert.equal(
    remote.requests.filter(({ body }) => body.intentId === intentId).length,
    2,
    "customer and inbox, once each",
  );
  assertFault(await merchant.post(url, { ...name, mint: SOLANA_WALLET }), 400, "unsupported_origin");
  assertFault(await merchant.post(url, { chainId: 103 }), 400, "unsupported_origin");
});
