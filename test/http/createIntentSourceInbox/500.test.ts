import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestApi, assertFault } from "../../support/api.ts";
import { openTestDatabase } from "../../support/database.ts";
import { remoteGateApi } from "../../support/remoteGateApi.ts";
import { issueAlways, replyToInboxes } from "../../support/fakeIssuingGate.ts";

test("D25 an internal failure returns 500 without internal details", async () => {
  const db = await openTestDatabase("postgres");
  let isBroken = false;
  const breaking = {
    ...db,
    async transaction<T>(run: Parameters<typeof db.transaction<T>>[0]): Promise<T> {
      if (isBroken) throw new Error("secret internals");
      return db.transaction(run);
    },
  };
  const api = await openTestApi(breaking);
  try {
    const merchant = await api.openMerchant();
    const { intentId } = await merchant.createIntent();
    isBroken = true;
    const response = await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
    assertFault(response, 500, "internal_error");
    assert.doesNotMatch(response.text, /secret/);
  } finally {
    await api.server.close();
    await db.close();
  }
});

test("§7.3.2 a refusal by the gate is not retryable and shows no reason", async () => {
  const { api, remote } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  remote.setBehaviour(replyToInboxes(() => ({ verdict: "refused", reason: "secret suspicion" })));
  const response = await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
  remote.setBehaviour(issueAlways());
  assert.equal(assertFault(response, 500, "source_inbox_refused").retryable, false);
  assert.equal(response.headers["retry-after"], undefined);
  assert.doesNotMatch(response.text, /suspicion/);
});
