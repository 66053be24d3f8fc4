import assert from "node:assert/strict";
import { test } from "node:test";
import { addPageOrigin } from "../../../src/merchant/pageOrigins.ts";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/page-origins";

test("D45 the list has what the operator and the merchant added, in alphabetical order", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  assert.deepEqual((await merchant.get(URL)).body, { origins: [] });
  await merchant.sendBody("PUT", URL, { body: { origins: ["https://b.example"] } });
  await addPageOrigin(api.world, { accountId: merchant.accountId, origin: "https://a.example" });
  assert.deepEqual((await merchant.get(URL)).body, { origins: ["https://a.example", "https://b.example"] });
  assert.deepEqual((await (await api.openMerchant()).get(URL)).body, { origins: [] });
});

test("D44, D45 a key for intents alone neither reads nor changes the list", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant({ scopes: ["payment_intents:create"] });
  assertFault(await merchant.get(URL), 403, "insufficient_scope");
  const answered = await merchant.sendBody("PUT", URL, { body: { origins: ["https://evil.example"] } });
  const { details } = assertFault(answered, 403, "insufficient_scope");
  assert.deepEqual(details, { requiredScope: "checkout:manage" });
  const patched = await merchant.sendBody("PATCH", "/api/v1/account", { body: { brand: { accent: "#abc" } } });
  assertFault(patched, 403, "insufficient_scope");
});
