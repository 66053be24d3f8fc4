import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS } from "../../../src/http/operationList.ts";
import { caip19 } from "../../../src/kernel/caip.ts";
import { updateAccount } from "../../../src/merchant/updateAccount.ts";
import { assertFault, SETTLE_CHAIN_ID, testApi } from "../../support/api.ts";

const URL = "/api/v1/account";

test("D4a an account shows its own name, destination, terms, origins, scopes and limits", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { status, body, text } = await merchant.get(URL);
  assert.equal(status, 200);
  const { limits, ...rest } = body;
  assert.deepEqual(rest, {
    object: "account",
    accountId: merchant.accountId,
    name: "Test",
    environment: "test",
    payout: { chain: `eip155:${SETTLE_CHAIN_ID}`, wallet: rest.payout.wallet, currency: "USDC" },
    feeBps: 0,
    underpayToleranceBps: 0,
    recovery: null,
    solanaRecovery: null,
    evmPayout: null,
    solanaPayout: null,
    origins: null,
    limitMultiple: 1,
    brand: { accent: null, accentDark: null, radius: null, font: null, logo: null },
    support: null,
    scopes: ["payment_intents:create", "checkout:manage"],
  });
  assert.equal(rest.payout.wallet.toLowerCase(), merchant.wallet);
  assert.equal(limits.length, OPERATIONS.length);
  assert.deepEqual(limits[0], { operationId: "createPaymentIntent", perMinute: 30, perMinuteAndIntent: null });
  assert.ok(!text.includes(merchant.apiKey) && !text.includes("secret"));
});

test("D4a what the operator changes is shown, and a key without a destination shows none", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant({ hasDefaults: false });
  assert.equal((await merchant.get(URL)).body.payout, null);
  const [asset] = api.world.catalog.assets;
  assert.ok(asset);
  const change = { name: "Harbor", feeBps: 50, underpayToleranceBps: 20, origins: [asset.railId] };
  await updateAccount(api.world, { accountId: merchant.accountId, change });
  api.advanceTime(1_000);
  const { body } = await merchant.get(URL);
  assert.deepEqual([body.name, body.feeBps, body.underpayToleranceBps], ["Harbor", 50, 20]);
  assert.deepEqual(body.origins, [caip19(asset.chain, asset.token)]);
});

test("the operator raises the limits of an account, which its responses and its account show, and never lowers them", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const raise = (limitMultiple: number) =>
    updateAccount(api.world, { accountId: merchant.accountId, change: { limitMultiple } });
  assert.equal((await merchant.get(URL)).headers["ratelimit-limit"], "120");
  const { after } = await raise(5);
  assert.equal(after.limit_multiple, 5);
  api.advanceTime(1_000);
  const { headers, body } = await merchant.get(URL);
  assert.deepEqual([headers["ratelimit-limit"], body.limitMultiple], ["600", 5]);
  const { intentId } = await merchant.createIntent();
  const viewed = await merchant.post(`/api/v1/intents/${intentId}/view`);
  assert.equal(viewed.headers["ratelimit-limit"], "150", "the limit with the least room");
  const limits = new Map<string, object>(
    body.limits.map((limit: { operationId: string }) => [limit.operationId, limit]),
  );
  assert.deepEqual(limits.get("recordIntentView"), {
    operationId: "recordIntentView",
    perMinute: 300,
    perMinuteAndIntent: 150,
  });
  for (const wrong of [0, -1, 51]) await assert.rejects(raise(wrong), /account_limit_multiple_check/);
  const other = await api.openMerchant();
  assert.equal((await other.get(URL)).headers["ratelimit-limit"], "120");
});

test("D44 a key with any scope reads its account, and one without a scope does not", async () => {
  const api = await testApi();
  for (const scope of ["payment_intents:read", "events:read", "webhooks:manage", "checkout:manage"]) {
    const { status, body } = await (await api.openMerchant({ scopes: [scope] })).get(URL);
    assert.deepEqual([status, body.scopes], [200, [scope]]);
  }
  assertFault(await (await api.openMerchant({ scopes: [] })).get(URL), 403, "insufficient_scope");
});
