import { test } from "node:test";
import { assertFault, testApi, UNKNOWN_ID } from "../../support/api.ts";

test("D15 limit and cursor follow the rules of every list", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { id } = await merchant.insertIntent();
  assertFault(await merchant.get(`/api/v1/intents/${id}/settlements?limit=0`), 400, "invalid_request");
  assertFault(await merchant.get(`/api/v1/intents/${id}/settlements?cursor=AAAA`), 400, "invalid_cursor");
});

test("D20 checks run in order: query shape, intent, cursor owner", async () => {
  const merchant = await (await testApi()).openMerchant();
  assertFault(await merchant.get(`/api/v1/intents/${UNKNOWN_ID}/settlements?limit=0`), 400, "invalid_request");
  assertFault(await merchant.get(`/api/v1/intents/${UNKNOWN_ID}/settlements?cursor=AAAA`), 404, "not_found");
});
