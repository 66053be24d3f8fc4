import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const REFUSED: [query: string, param: string][] = [
  ["after=-1", "after"],
  ["after=x", "after"],
  ["limit=0", "limit"],
  ["limit=101", "limit"],
  ["type=deposit.seem", "type"],
  ["type=", "type"],
  ["type=deposit.*,", "type"],
  ["cursor=1", "cursor"],
  ["intent=pi_1", "intent"],
];

test("D34 a wrong parameter is refused by its name", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const [query, param] of REFUSED)
    assert.equal(assertFault(await merchant.get(`/api/v1/events?${query}`), 400, "invalid_request").param, param);
});
