import assert from "node:assert/strict";
import { test } from "node:test";
import { systemEntropy } from "../../../src/kernel/entropy.ts";
import { addMs } from "../../../src/kernel/clock.ts";
import { newApiKey } from "../../../src/merchant/keys/apiKey.ts";
import { setAccountStatus } from "../../../src/merchant/setAccountStatus.ts";
import { CREATE_INTENTS } from "../../../src/merchant/keys/scopes.ts";
import { insertKey } from "../../../src/merchant/store.ts";
import { assertFault, testApi, VERSION } from "../../support/api.ts";

// All combinations of key and account states; the answer names the first defect in order.

const KEY_STATES = Array.from({ length: 64 }, (_, number) => {
  const is = (bit: number) => (number & (1 << bit)) !== 0;
  const [ofLive, wrongSecret, revoked, expired, suspended, unscoped] = [is(0), is(1), is(2), is(3), is(4), is(5)];
  return { ofLive, wrongSecret, revoked, expired, suspended, unscoped };
});
/** None of these is the required scope. */
const OTHER_SCOPES = ["payment_intents:read", "payment_intents", "PAYMENT_INTENTS:CREATE", "payment_intents:create:x"];

function expectedError(state: (typeof KEY_STATES)[number]): [number, string] | undefined {
  if (state.ofLive || state.wrongSecret) return [401, "unauthorized"];
  if (state.revoked) return [401, "key_revoked"];
  if (state.expired) return [401, "key_expired"];
  if (state.suspended) return [403, "account_suspended"];
  return state.unscoped ? [403, "insufficient_scope"] : undefined;
}

test("§5.4, D21 the error names the first defect of environment, secret, revocation, expiry, account and scope", async () => {
  const api = await testApi();
  const now = api.world.clock.now();
  for (const state of KEY_STATES) {
    const { accountId } = await api.openMerchant();
    const key = newApiKey(state.ofLive ? "live" : "test", systemEntropy);
    await insertKey(api.world.db.root, {
      key_id: key.keyId,
      account_id: accountId,
      secret_hash: state.wrongSecret ? newApiKey("test", systemEntropy).hash : key.hash,
      scopes: state.unscoped ? OTHER_SCOPES : [CREATE_INTENTS],
      created_at: now,
      expires_at: state.expired ? now : addMs(now, 1),
      revoked_at: state.revoked ? now : null,
      last_used_at: null,
    });
    if (state.suspended) await setAccountStatus(api.world, { accountId, status: "suspended" });
    const headers = { authorization: `Bearer ${key.apiKey}`, "service-version": VERSION };
    const response = await api.send("/api/v1/intents", { headers });
    const expected = expectedError(state);
    if (expected === undefined) assert.equal(response.status, 200, response.text);
    else assertFault(response, ...expected);
  }
});
