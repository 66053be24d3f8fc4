import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestApi, assertFault } from "../../support/api.ts";
import { openTestDatabase } from "../../support/database.ts";

test("D25 what breaks on our side is told as that, with nothing of the inside", async () => {
  const db = await openTestDatabase("pglite");
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
    const answered = await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
    assertFault(answered, 500, "internal_error");
    assert.doesNotMatch(answered.text, /secret/);
  } finally {
    await api.server.close();
    await db.close();
  }
});
