import assert from "node:assert/strict";
import { test } from "node:test";
import { addMember, removeMember } from "../../../src/dashboard/members.ts";
import { READ_DASHBOARD } from "../../../src/merchant/keys/scopes.ts";
import { randomAddress } from "../../support/intents.ts";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/audit-log";

test("the log has who changed what, newest first, page by page, and of this account alone", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant({ scopes: [READ_DASHBOARD] });
  const { accountId } = merchant;
  const { id: memberId } = await addMember(
    api.world,
    { accountId, wallet: randomAddress(), role: "owner" },
    "operator",
  );
  await removeMember(api.world, { accountId, memberId }, "operator");
  const first = (await merchant.get(`${URL}?limit=1`)).body;
  assert.deepEqual(
    [first.data[0].action, first.data[0].actor, first.data[0].details.memberId],
    ["member.removed", "operator", memberId],
  );
  const second = (await merchant.get(`${URL}?limit=1&cursor=${first.next_cursor}`)).body;
  assert.deepEqual([second.data[0].action, second.has_more], ["member.added", false]);
  const other = await api.openMerchant({ scopes: [READ_DASHBOARD] });
  assert.deepEqual((await other.get(URL)).body.data, []);
  assertFault(await (await api.openMerchant()).get(URL), 403, "insufficient_scope");
});
