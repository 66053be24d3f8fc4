import { test } from "node:test";
import { assertFault, testApi, UNKNOWN_ID } from "../../support/api.ts";
import { testVersionErrors } from "../../support/operationTests.ts";

testVersionErrors("listIntentSettlements");

test("D15 limits and cursors are those of every list", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { id } = await merchant.insertIntent();
  assertFault(await merchant.get(`/api/v1/intents/${id}/settlements?limit=0`), 400, "invalid_request");
  assertFault(await merchant.get(`/api/v1/intents/${id}/settlements?cursor=AAAA`), 400, "invalid_cursor");
});

test("D20 the query's shape is looked at before the intent, and whose cursor it is behind it", async () => {
  const merchant = await (await testApi()).openMerchant();
  assertFault(await merchant.get(`/api/v1/intents/${UNKNOWN_ID}/settlements?limit=0`), 400, "invalid_request");
  assertFault(await merchant.get(`/api/v1/intents/${UNKNOWN_ID}/settlements?cursor=AAAA`), 404, "not_found");
});
