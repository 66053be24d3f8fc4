import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listEventsOf } from "../support/events.ts";
import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { verifyInbox } from "@tributary/inbox/verify";
import { routesFromWire, type InboxRoute } from "@tributary/inbox/wire";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { openTestApi, testApi, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";

// What an integrator sees of the routes, and what a verifier needs of them.

const URL = "/api/v1/intents";

let api: TestApi;
let merchant: Merchant;

before(async () => {
  const { world } = await testApi();
  const config = { ...world.config, chains: bridgedChains() };
  api = await openTestApi(world.db, { config, catalog: buildCatalog(config) });
  merchant = await api.openMerchant();
});
after(() => api.server.close());

/** Circle's contracts on the local chains, from the verifier's own settings. */
const bridges = {
  cctpV2Chains: bridgedChains().flatMap(({ chainId, cctp, tokens: [usdc] }): CctpV2Chain[] =>
    cctp && usdc ? [{ chainId: BigInt(chainId), ...cctp, usdc: usdc.address } as CctpV2Chain] : [],
  ),
};

function verify({ inboxTerms, inboxAddress, payout }: Json) {
  const { wallet: payoutWallet, tokenAddress: token, chainReference } = payout;
  const expected = { inboxAddress, payoutWallet, token, chainId: Number(chainReference), feeBpsMax: 100 };
  return verifyInbox(inboxTerms, { ...expected, bridges });
}

test("D40 create, read and archive show the routes of the root, and a verifier accepts the inbox by them", async () => {
  const created = await merchant.createIntent();
  const { routes, routesRoot } = created.inboxTerms;
  assert.deepEqual(routes.map(({ chainId }: InboxRoute) => chainId).toSorted(), ["31338", "31338", "31339", "31339"]);
  assert.equal(computeRoutesRoot(routesFromWire(routes)), routesRoot);
  assert.deepEqual(verify(created), { ok: true });
  const { body: read } = await merchant.get(`${URL}/${created.intentId}`);
  assert.deepEqual(read.inboxTerms, created.inboxTerms);
  const { body: archived } = await merchant.post(`${URL}/${created.intentId}/archive`, {});
  assert.deepEqual(archived.inboxTerms, created.inboxTerms);
});

test("D40 a repeat of the create and its idempotent replay show the same routes", async () => {
  const body = { payoutWallet: merchant.wallet, priceUnits: 5_000_000 };
  const first = await merchant.post(URL, body, { "idempotency-key": "routes-1" });
  const replayed = await merchant.post(URL, body, { "idempotency-key": "routes-1" });
  const repeated = await merchant.post(URL, body);
  assert.deepEqual([first.status, replayed.status, repeated.status], [201, 201, 201]);
  for (const { inboxTerms } of [replayed.body, repeated.body]) assert.deepEqual(inboxTerms, first.body.inboxTerms);
  assert.deepEqual(verify(first.body), { ok: true });
});

test("D40 lists and events show only the root, with which an inbox is not verified", async () => {
  const { intentId, inboxTerms } = await merchant.createIntent();
  const { body: list } = await merchant.get(URL);
  const listed = list.data.find((intent: Json) => intent.intentId === intentId);
  const { routes: _, ...rootOnly } = inboxTerms;
  assert.deepEqual(listed.inboxTerms, rootOnly);
  assert.deepEqual(verify(listed), { ok: false, reason: "wrong_routes" });
  const { db } = api.world;
  const [event] = await listEventsOf(db, intentId);
  const shown: Json = event?.data.object;
  assert.deepEqual(shown.inboxTerms, rootOnly);
});

test("D40 without a bridge an intent has no routes, and the inbox needs none", async () => {
  const unbridged = await (await testApi()).openMerchant();
  const created = await unbridged.createIntent();
  assert.deepEqual([created.inboxTerms.routes, BigInt(created.inboxTerms.routesRoot)], [undefined, 0n]);
  assert.deepEqual(verify(created), { ok: true });
});

test("D28 an origin with a pinned route is listed, and not issued while no crossing is driven", async () => {
  const { intentId } = await merchant.createIntent();
  const { body } = await merchant.get(`${URL}/${intentId}/origins`);
  assert.deepEqual(
    body.origins.map(({ chainId }: Json) => chainId),
    [31_337, 31_338, 31_339],
  );
  const { status, body: refused } = await merchant.post(`${URL}/${intentId}/source-inbox`, { chainId: 31_338 });
  assert.deepEqual([status, refused.error.code], [503, "source_inbox_not_active"]);
});
