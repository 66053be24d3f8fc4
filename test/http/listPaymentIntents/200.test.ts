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

test("§4.1.1, §4.1.2 the newest comes first, ten at a time, shaped as the record of one", async () => {
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

test("D15 pages join without a gap or a repetition, also while intents are added", async () => {
  const merchant = await (await testApi()).openMerchant();
  const before: string[] = [];
  for (let count = 0; count < 7; count += 1) before.unshift((await merchant.insertIntent()).id);
  const seen: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 10; pages += 1) {
    const { body } = await merchant.get(`${URL}?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
    seen.push(...body.data.map((intent: { intentId: string }) => intent.intentId));
    assert.equal(typeof body.next_cursor, "string");
    assert.equal(body.has_more, body.next_cursor !== "");
    await merchant.insertIntent();
    cursor = body.next_cursor;
    if (!body.has_more) break;
  }
  assert.deepEqual(seen, before);
});

test("D15 a limit that is just enough says that nothing follows", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (let count = 0; count < 3; count += 1) await merchant.insertIntent();
  const { body } = await merchant.get(`${URL}?limit=3`);
  assert.deepEqual([body.data.length, body.has_more, body.next_cursor], [3, false, ""]);
  assert.equal((await idsOf(merchant, "?limit=100")).length, 3);
});

test("D12 the list can be narrowed to a reference, which is not unique", async () => {
  const merchant = await (await testApi()).openMerchant();
  const wanted = [];
  for (const merchantReference of ["a b&c", "other", "a b&c"]) {
    const { intentId } = await merchant.createIntent({ merchantReference });
    if (merchantReference !== "other") wanted.unshift(intentId);
  }
  assert.deepEqual(await idsOf(merchant, `?merchantReference=${encodeURIComponent("a b&c")}`), wanted);
  assert.deepEqual(await idsOf(merchant, "?merchantReference=nobody"), []);
});

test("§5.3 another account's intents are never listed, and archived ones of its own are", async () => {
  const api = await testApi();
  const [merchant, stranger] = [await api.openMerchant(), await api.openMerchant()];
  await stranger.insertIntent();
  const archived = await merchant.insertIntent({ status: "archived", archived_at: api.world.clock.now() });
  assert.deepEqual(await idsOf(merchant, ""), [archived.id]);
});

test("D14 unknown query parameters are ignored, even twice", async () => {
  const merchant = await (await testApi()).openMerchant();
  assert.deepEqual(await idsOf(merchant, "?foo=1&foo=2&__proto__=x&Limit=0"), []);
});
