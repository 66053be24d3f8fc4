import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/events/stream";

test("D34 a wrong parameter is refused by its name", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const [query, param] of [
    ["after=-1", "after"],
    ["limit=10", "limit"],
    ["type=deposit.seem", "type"],
    ["cursor=1", "cursor"],
  ])
    assert.equal(assertFault(await merchant.get(`${URL}?${query}`), 400, "invalid_request").param, param);
  for (const id of ["evt_1", "-1", "1.5", "9".repeat(17), "9007199254740992", "1\u00a0"])
    assert.equal(
      assertFault(await merchant.get(URL, { "last-event-id": id }), 400, "invalid_request").param,
      "Last-Event-ID",
    );
});
