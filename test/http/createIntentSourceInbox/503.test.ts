import assert from "node:assert/strict";
import { test } from "node:test";
import { setOriginEnabled } from "../../../src/inbox/originSwitch.ts";
import { assertFault, OTHER_CHAIN_ID, testApi, USDC } from "../../support/api.ts";
import { remoteGateApi } from "../../support/remoteGateApi.ts";
import { replyAlways, issueAlways, replyToInboxes } from "../../support/fakeIssuingGate.ts";

test("§7.3.3, §1.7 an origin that cannot reach the payout is not active and not retryable", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const reply = await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: OTHER_CHAIN_ID });
  assert.equal(assertFault(reply, 503, "source_inbox_not_active").retryable, false);
  assert.equal(reply.headers["retry-after"], undefined);
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

test("§7.3.4 a customer that the gate has not bound yet is retryable after 2 seconds", async () => {
  const { api, remote } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  remote.setBehaviour(replyAlways({ verdict: "pending" }));
  const reply = await merchant.post(url, { chainId: 31337 });
  assert.equal(assertFault(reply, 503, "customer_not_bound").retryable, true);
  assert.equal(reply.headers["retry-after"], "2");
  remote.setBehaviour(issueAlways());
  assert.equal((await merchant.post(url, { chainId: 31337 })).status, 201);
});

test("§7.3.1 an unreachable gate is retryable after 5 seconds", async () => {
  const { api, remote } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  remote.setBehaviour((_request, response) => response.destroy());
  const reply = await merchant.post(url, { chainId: 31337 });
  assert.equal(assertFault(reply, 503, "source_inbox_unavailable").retryable, true);
  assert.equal(reply.headers["retry-after"], "5");
  remote.setBehaviour(issueAlways());
  const first = await merchant.post(url, { chainId: 31337 });
  remote.setBehaviour(replyAlways({}, 500));
  const again = await merchant.post(url, { chainId: 31337 });
  assert.deepEqual([again.status, again.body], [201, first.body], "what is issued needs no gate");
  remote.setBehaviour(issueAlways());
});

test("§7.3.3 an origin that the gate or the operator disabled is not active and not retryable", async () => {
  const { api, remote } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const url = async () => `/api/v1/intents/${(await merchant.createIntent()).intentId}/source-inbox`;
  remote.setBehaviour(replyToInboxes(() => ({ verdict: "disabled" })));
  const disabled = await merchant.post(await url(), { chainId: 31337 });
  remote.setBehaviour(issueAlways());
  const origin = api.world.catalog.assets.find((asset) => asset.chainId === 31337 && asset.token === USDC);
  assert.ok(origin);
  await setOriginEnabled(api.world, { origin, isEnabled: false });
  const off = await merchant.post(await url(), { chainId: 31337 });
  await setOriginEnabled(api.world, { origin, isEnabled: true });
  for (const reply of [disabled, off]) {
    assert.equal(assertFault(reply, 503, "source_inbox_not_active").retryable, false);
    assert.equal(reply.headers["retry-after"], undefined);
  }
});
