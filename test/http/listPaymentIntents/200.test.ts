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

test("D4a the list filters by status, payment status and time", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const day = (number: number) => new Date(`2026-10-0${number}T12:00:00Z`);
  const priced = { price_units: 100n, price_token_units: 100n };
  const unpaid = await merchant.insertIntent({ ...priced, created_at: day(1) });
  const partial = await merchant.insertIntent({ ...priced, counted_units: 99n, created_at: day(2) });
  const tolerated = await merchant.insertIntent({
    ...priced,
    counted_units: 99n,
    underpay_tolerance_bps: 100,
    created_at: day(3),
  });
  const open = await merchant.insertIntent({ counted_units: 1n, created_at: day(4) });
  const over = await merchant.insertIntent({ ...priced, one_time: true, counted_units: 101n, created_at: day(5) });
  const archived = await merchant.insertIntent({ status: "archived", archived_at: day(7), created_at: day(6) });
  for (const [query, expected] of [
    ["status=archived", [archived]],
    ["paymentStatus=unpaid", [archived, unpaid]],
    ["paymentStatus=partial", [partial]],
    ["paymentStatus=paid", [open, tolerated]],
    ["paymentStatus=overpaid", [over]],
    ["createdAfter=2026-10-04T12:00:00Z", [archived, over]],
    ["createdBefore=2026-10-02T14:00:00%2b02:00", [unpaid]],
    ["createdAfter=2026-10-01T12:00:00Z&createdBefore=2026-10-05T12:00:00.000Z&paymentStatus=paid", [open, tolerated]],
  ] as const)
    assert.deepEqual(
      await idsOf(merchant, `?${query}`),
      expected.map(({ id }) => id),
      query,
    );
});

test("D4a filters of time are exact where the clock was set back by an hour, and combine with all others", async () => {
  const merchant = await (await testApi()).openMerchant();
  const created: { id: string }[] = [];
  // In the order of creation: the clock goes back after the third.
  for (const time of ["09:00", "10:00", "11:00", "10:01", "10:30", "11:01"])
    created.push(
      await merchant.insertIntent({ merchant_reference: "shift", created_at: new Date(`2026-10-01T${time}:00Z`) }),
    );
  const filters = [
    "",
    "status=active",
    "paymentStatus=unpaid",
    "status=active&paymentStatus=unpaid",
    "merchantReference=shift",
    "merchantReference=shift&status=active&paymentStatus=unpaid",
  ];
  for (const filter of filters)
    for (const [times, expected] of [
      ["createdBefore=2026-10-01T10:45:00Z", [4, 3, 1, 0]],
      ["createdAfter=2026-10-01T10:45:00Z", [5, 2]],
      ["createdAfter=2026-10-01T10:00:00Z&createdBefore=2026-10-01T11:00:00Z", [4, 3]],
      ["createdAfter=2026-10-01T12:00:00Z", []],
      ["createdBefore=2026-10-01T09:00:00Z", []],
    ] as const) {
      const query = `${filter}&${times}`;
      const found = (await idsOf(merchant, `?${query.replace(/^&/, "")}`)).map((id) =>
        created.findIndex((intent) => intent.id === id),
      );
      assert.deepEqual(found, expected, query);
    }
  for (const filter of ["merchantReference=shift&status=settled", "merchantReference=shift&paymentStatus=paid"])
    assert.deepEqual(await idsOf(merchant, `?${filter}`), []);
});
