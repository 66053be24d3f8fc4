import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const URL = "/api/v1/intents";

test("D15 a limit is a whole number from 1 to 100", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const limit of ["0", "-1", "101", "1e2", "1.5", "01", "", "ten", "%201", "9999999999", "%00"]) {
    const error = assertFault(await merchant.get(`${URL}?limit=${limit}`), 400, "invalid_request");
    assert.equal(error.param, "limit", limit);
  }
});

test("D15 a cursor that this list did not return to this account is refused", async () => {
  const api = await testApi();
  const [merchant, stranger] = [await api.openMerchant(), await api.openMerchant()];
  for (const owner of [merchant, merchant, stranger, stranger]) await owner.insertIntent();
  const { body: own } = await merchant.get(`${URL}?limit=1`);
  const { body: foreign } = await stranger.get(`${URL}?limit=1`);
  const cursor: string = own.next_cursor;
  const flipped = (cursor.startsWith("A") ? "B" : "A") + cursor.slice(1);
  const wrong = [
    "",
    foreign.next_cursor,
    flipped,
    `${cursor}A`,
    cursor.slice(1),
    "1",
    "%00",
    "%zz",
    "'%20or%201=1",
    "x".repeat(3_000),
  ];
  for (const text of wrong) {
    assert.equal(assertFault(await merchant.get(`${URL}?cursor=${text}`), 400, "invalid_cursor").param, "cursor", text);
  }
  assert.equal((await merchant.get(`${URL}?cursor=${cursor}`)).status, 200);
});

test("D14 a repeated known parameter is refused", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const name of ["limit", "cursor", "merchantReference"]) {
    const error = assertFault(await merchant.get(`${URL}?${name}=1&${name}=1`), 400, "invalid_request");
    assert.equal(error.param, name);
  }
});

test("D14 a known parameter must be percent-encoded UTF-8", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const name of ["limit", "cursor", "merchantReference"]) {
    for (const text of ["%ff", "%zz", "1%", "%E0%A4%A", "a%ED%A0%80"]) {
      const code = name === "cursor" ? "invalid_cursor" : "invalid_request";
      assert.equal(assertFault(await merchant.get(`${URL}?${name}=${text}`), 400, code).param, name, text);
    }
  }
  const { intentId } = await merchant.createIntent({ merchantReference: "ü + 100 %" });
  const asWritten = "merchantReference=%C3%BC+%2b+100%20%25";
  for (const query of [asWritten, `%6d${asWritten.slice(1)}`, `&&${asWritten}`]) {
    const { body } = await merchant.get(`${URL}?${query}`);
    assert.deepEqual([body.data.length, body.data[0].intentId], [1, intentId], query);
  }
});

test("D12 an invalid reference is refused", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const reference of ["", "%00", "%0A", "%E2%80%8B", "x".repeat(201)]) {
    const error = assertFault(await merchant.get(`${URL}?merchantReference=${reference}`), 400, "invalid_request");
    assert.equal(error.param, "merchantReference");
  }
});

test("D4a an invalid filter is refused, and names its field", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const [query, param] of [
    ["status=paid", "status"],
    ["paymentStatus=settled", "paymentStatus"],
    ["createdAfter=yesterday", "createdAfter"],
    ["createdBefore=2026-13-01T00:00:00Z", "createdBefore"],
    ["createdBefore=2026-11-01", "createdBefore"],
    ["statsu=active", "statsu"],
  ] as const)
    assert.equal(assertFault(await merchant.get(`${URL}?${query}`), 400, "invalid_request").param, param, query);
});
