import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { openTestApi, type Merchant, type TestApi } from "../support/api.ts";
import { openCheckout, type OpenCheckout } from "../support/checkout.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { SCOPES } from "../../src/merchant/keys/scopes.ts";
import { OPERATIONS, type OperationId } from "../support/operationSpecs.ts";
import { callOperation } from "../support/operationTests.ts";
import type { PostgresServer } from "../support/postgres.ts";

describe("the server of the database is gone", () => {
  let server: PostgresServer;
  let db: Db;
  let api: TestApi;
  let merchant: Merchant;
  let page: OpenCheckout;
  before(async () => {
    server = await startOwnServer({ isDurable: true });
    db = await openDatabase({ url: await createDatabaseOn(server, "service") });
    api = await openTestApi(db);
    merchant = await api.openMerchant({ scopes: SCOPES });
    page = await openCheckout(api, await merchant.createIntent());
    await server.stop();
  });
  after(async () => {
    await api.server.close();
    await db.close();
    await server.remove();
  });

  for (const operationId of Object.keys(OPERATIONS) as OperationId[])
    test(`D25 ${operationId} asks to repeat the request later`, async () => {
      const answered = await callOperation({ operationId, merchant }, { id: page.intentId });
      assert.equal(answered.status, operationId === "createIntentSourceInbox" ? 503 : 500, answered.text);
      assert.equal(answered.body.error.retryable, true);
      assert.equal(answered.headers["retry-after"], "5");
    });

  for (const [method, path] of [
    ["GET", "state"],
    ["GET", "origins"],
    ["GET", "logo"],
    ["GET", "solana-pay"],
    ["POST", "handoff"],
    ["POST", "view"],
    ["POST", "source-inbox"],
    ["POST", "session"],
  ] as const)
    test(`D25 the page's ${path} asks to repeat the request later`, async () => {
      const answered = await api.send(`/c/${page.intentId}/${path}`, {
        method,
        headers: { cookie: page.cookie, "content-type": "application/json" },
        body: method === "GET" ? undefined : BODIES[path],
      });
      assert.ok(answered.status >= 500, `${answered.status} ${answered.text}`);
      assert.equal(answered.body.error.retryable, true);
      assert.equal(answered.headers["retry-after"], "5");
    });

  test("D25 /readyz asks to repeat the request later", async () => {
    const answered = await api.send("/readyz");
    assert.equal(answered.status, 503);
    assert.equal(answered.headers["retry-after"], "5");
  });
});

const BODIES: Readonly<Record<string, object>> = {
  handoff: {},
  view: {},
  "source-inbox": { originId: "eip155:31337/erc20:0x00" },
  session: { widgetToken: `wt_${"a".repeat(43)}` },
};
