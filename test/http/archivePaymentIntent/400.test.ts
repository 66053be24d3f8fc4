import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

test("D14 a body with any field is refused and archives nothing", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const url = `/api/v1/intents/${intentId}`;
  assert.equal(
    assertFault(await merchant.post(`${url}/archive`, { dryRun: true }), 400, "invalid_request").param,
    "dryRun",
  );
  assertFault(await merchant.post(`${url}/archive`, []), 400, "invalid_request");
  assert.equal((await merchant.get(url)).body.status, "active");
});
