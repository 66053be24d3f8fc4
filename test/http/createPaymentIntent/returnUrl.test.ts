import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { assertFault, testApi, type Merchant, type TestApi } from "../../support/api.ts";

let api: TestApi;
let merchant: Merchant;
before(async () => {
  api = await testApi();
  merchant = await api.openMerchant();
});

const FIELDS = { returnUrl: "https://shop.example/orders/4711?a=b#c", description: "Two seats, row 7" };

test("D1a returnUrl and description are stored and returned as sent, and null without", async () => {
  const created = await merchant.createIntent(FIELDS);
  const { returnUrl, description } = (await merchant.get(`/api/v1/intents/${created.intentId}`)).body;
  assert.deepEqual({ returnUrl, description }, FIELDS);
  const bare = await merchant.createIntent({ returnUrl: null, description: null });
  assert.deepEqual([bare.returnUrl, bare.description], [null, null]);
});

test("D1a a repeated create keeps the stored returnUrl and description, and other ones are no conflict", async () => {
  const destination = { payoutWallet: merchant.wallet, priceUnits: 1_000_000 };
  const first = await merchant.createIntent({ ...destination, ...FIELDS });
  const second = await merchant.createIntent({ ...destination, returnUrl: "https://other.example", description: "x" });
  assert.deepEqual(
    [second.intentId, second.created, second.returnUrl, second.description],
    [first.intentId, false, FIELDS.returnUrl, FIELDS.description],
  );
});

test("D1a returnUrl is https, or http in a test environment, without user and password", async () => {
  const create = (body: object) => merchant.post("/api/v1/intents", body);
  assert.equal((await create({ returnUrl: "http://localhost:3000/" })).status, 201);
  for (const returnUrl of [
    "javascript:alert(1)",
    "data:text/html,x",
    "shop.example",
    "//shop.example",
    "https://",
    "https://user@shop.example",
    "https://user:word@shop.example",
    " https://shop.example",
    "https://shop.example/\n",
    "java\tscript:alert(1)",
    `https://shop.example/${"a".repeat(2_000)}`,
    "",
  ]) {
    assert.equal(assertFault(await create({ returnUrl }), 400, "invalid_request").param, "returnUrl", returnUrl);
  }
  for (const description of ["", "a".repeat(201), "a\u202eb", "line\nbreak"])
    assert.equal(assertFault(await create({ description }), 400, "invalid_request").param, "description", description);
});

test("the database keeps returnUrl and description of an intent as they are", async () => {
  const { intentId } = await merchant.createIntent(FIELDS);
  for (const column of ["return_url", "description"]) {
    const change = sql`update intent set ${sql.ref(column)} = 'x' where id = ${intentId}`.execute(api.world.db.root);
    await assert.rejects(change, /pinned/);
  }
});
