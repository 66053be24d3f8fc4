import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { ENDPOINTS, openWebhookMerchant } from "../../support/webhookApi.ts";

const REFUSED: [body: object, param: string][] = [
  [{}, "url"],
  [{ url: "shop.example" }, "url"],
  [{ url: "ftp://shop.example/" }, "url"],
  [{ url: "http://127.0.0.1:1/" }, "url"],
  [{ url: "https://[::ffff:10.0.0.1]/" }, "url"],
  [{ url: "https://user:word@shop.example/" }, "url"],
  [{ url: `https://shop.example/${"x".repeat(2_000)}` }, "url"],
  [{ url: "https://shop.example/", types: [] }, "types"],
  [{ url: "https://shop.example/", types: ["deposit.seem"] }, "types"],
  [{ url: "https://shop.example/", type: ["*"] }, "type"],
  [{ url: "https://shop.example/", description: "" }, "description"],
];

test("D35, D37 a wrong URL or type is refused by the name of its field", async () => {
  const { merchant } = await openWebhookMerchant();
  for (const [body, param] of REFUSED)
    assert.equal(assertFault(await merchant.post(ENDPOINTS, body), 400, "invalid_request").param, param);
  assert.equal((await merchant.get(ENDPOINTS)).body.data.length, 1);
});
