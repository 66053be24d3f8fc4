import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

test("D44 payment_intents:read allows the extension reads and nothing else", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant({ scopes: ["payment_intents:read"] });
  const { id } = await merchant.insertIntent();
  for (const path of [`/${id}/deposits`, `/${id}/settlements`])
    assert.equal((await merchant.get(`/api/v1/intents${path}`)).status, 200, path);
  for (const path of ["", `/${id}`, `/${id}/origins`]) {
    const { details } = assertFault(await merchant.get(`/api/v1/intents${path}`), 403, "insufficient_scope");
    assert.deepEqual(details, { requiredScope: "payment_intents:create" });
  }
});
