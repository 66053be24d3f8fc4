import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/page-origins";
const many = (count: number) => Array.from({ length: count }, (_, index) => `https://shop${index}.example`);

const REFUSED: [body: unknown, param: string | undefined, message: RegExp][] = [
  [{}, "origins", /origins is required/],
  [{ origins: null }, "origins", /list of at most 20 page origins/],
  [{ origins: "https://shop.example" }, "origins", /list of at most 20 page origins/],
  [{ origins: [7] }, "origins", /list of at most 20 page origins/],
  [{ origins: many(21) }, "origins", /at most 20/],
  [
    { origins: ["https://a.example", "https://*.example"] },
    "origins[1]",
    /such as https:\/\/shop\.example, .*not "https:\/\/\*\.example"\./,
  ],
  [{ origins: ["https://shop.example/checkout"] }, "origins[0]", /without a path/],
  [{ origins: ["*"] }, "origins[0]", /host/],
  [{ origins: [], origin: [] }, "origin", /Did you mean origins/],
  [{ origins: [], more: 1 }, "more", /not a field/],
  [[], undefined, /JSON object/],
];

test("D45 a wrong list is refused with the entry at fault, and the stored one stays", async () => {
  const merchant = await (await testApi()).openMerchant();
  const put = (body: unknown) => merchant.sendBody("PUT", URL, { body });
  assert.equal((await put({ origins: many(20) })).status, 200);
  for (const [body, param, message] of REFUSED) {
    const error = assertFault(await put(body), 400, "invalid_request");
    assert.equal(error.param, param, JSON.stringify(body));
    assert.match(error.message, message);
  }
  assert.equal((await merchant.get(URL)).body.origins.length, 20);
});
