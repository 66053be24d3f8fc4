import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi, type Merchant } from "../../support/api.ts";

const URL = "/api/v1/intents";

async function idsOf(merchant: Merchant, query: string): Promise<string[]> {
  const { status, body, text } = await merchant.get(`${URL}${query}`);
  assert.equal(status, 200, text);
  return body.data.map((intent: { intentId: string }) => intent.intentId);
}

test("§2.2 an empty list has the whole envelope", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { body } = await merchant.get(URL);
  assert.deepEqual(body, { object: "list", data: [], has_more: false, next_cursor: "" });
});

test("§4.1.1, §4.1.2 the list returns ten full records, newest first", async () => {
  const merchant = await (await testApi()).openMerchant();
  const ids: string[] = [];
  for (let count = 0; count < 12; count += 1) ids.unshift((await merchant.createIntent()).intentId);
  const { body } = await merchant.get(URL);
  assert.deepEqual(
    body.data.map((intent: { intentId: string }) => intent.intentId),
    ids.slice(0, 10),
  );
  assert.equal(body.has_more, true);
  const { body: single } = await merchant.get(`${URL}/${ids[0]}`);
  assert.deepEqual(body.data[0], single);
});

test("D15 pages have no gaps or repetitions, even while intents are added", async () => {
  const merchant = await (await testApi()).openMerchant();
  const before: string[] = [];
  for (let count = 0; count < 7; count += 1) before.unshift((await merchant.insertIntent()).id);
  const listed: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 10; pages += 1) {
    const { body } = await merchant.get(`${URL}?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
    listed.push(...body.data.map((intent: { intentId: string }) => intent.intentId));
    assert.equal(typeof body.next_cursor, "string");
    assert.equal(body.has_more, body.next_cursor !== "");
    await merchant.insertIntent();
    cursor = body.next_cursor;
    if (!body.has_more) break;
  }
  assert.deepEqual(listed, before);
});

test("D15 a limit equal to the count returns has_more false", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (let count = 0; count < 3; count += 1) await merchant.insertIntent();
  const { body } = await merchant.get(`${URL}?limit=3`);
  assert.deepEqual([body.data.length, body.has_more, body.next_cursor], [3, false, ""]);
  assert.equal((await idsOf(merchant, "?limit=100")).length, 3);
});

test("D12 the list filters by reference, which need not be unique", async () => {
  const merchant = await (await testApi()).openMerchant();
  const expectedIds = [];
  for (const merchantReference of ["a b&c", "other", "a b&c"]) {
    const { intentId } = await merchant.createIntent({ merchantReference });
    if (merchantReference !== "other") expectedIds.unshift(intentId);
  }
  assert.deepEqual(await idsOf(merchant, `?merchantReference=${encodeURIComponent("a b&c")}`), expectedIds);
  assert.deepEqual(await idsOf(merchant, "?merchantReference=nobody"), []);
});

test("§5.3 the list contains the account's own intents, archived ones included, and no others", async () => {
  const api = await testApi();
  const [merchant, stranger] = [await api.openMerchant(), await api.openMerchant()];
  await stranger.insertIntent();
  const archived = await merchant.insertIntent({ status: "archived", archived_at: api.world.clock.now() });
  assert.deepEqual(await idsOf(merchant, ""), [archived.id]);
});
