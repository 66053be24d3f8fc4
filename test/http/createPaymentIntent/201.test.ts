import assert from "node:assert/strict";
import { test } from "node:test";
import { listEventsOf } from "../../support/events.ts";
import { computeInboxAddress } from "@tributary/inbox/address";
import { termsFromWire } from "@tributary/inbox/wire";
import { drawn, fc } from "../../support/properties.ts";
import { clearKeyCache } from "../../../src/merchant/keys/keyCache.ts";
import { TWO_DECIMAL_TOKEN, DUSD, OTHER_CHAIN_ID, testApi, USDC, type Merchant } from "../../support/api.ts";
import { randomAddress } from "../../support/intents.ts";

const URL = "/api/v1/intents";

test("§2.1, §4.2.8 a create returns the record, the created flag and a widget token", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { status, body } = await merchant.post(URL, {
    priceUnits: 5,
    oneTime: true,
    merchantReference: "order 7",
    metadata: { a: [1, null] },
  });
  assert.equal(status, 201);
  assert.match(body.intentId, /^pi_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.match(body.inboxAddress, /^0x[0-9a-fA-F]{40}$/);
  assert.match(body.widgetToken, /^wt_[\w-]{43}$/);
  const { created, priceUnits, oneTime, merchantReference, metadata, status: state, paymentStatus, livemode } = body;
  assert.deepEqual(
    { created, priceUnits, oneTime, merchantReference, metadata, state, paymentStatus, livemode },
    {
      created: true,
      priceUnits: 5,
      oneTime: true,
      merchantReference: "order 7",
      metadata: { a: [1, null] },
      state: "active",
      paymentStatus: "unpaid",
      livemode: false,
    },
  );
  assert.equal(body.checkoutUrl.includes("wt_"), false);
});

test("D31 the returned terms determine the inbox address", async () => {
  const merchant = await (await testApi()).openMerchant();
  const created = await merchant.createIntent();
  assert.equal(computeInboxAddress(termsFromWire(created.inboxTerms)), created.inboxAddress.toLowerCase());
});

test("§4.2.1 omitted fields come from the account", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { payout } = await merchant.createIntent();
  assert.equal(payout.chainReference, "31337");
  assert.equal(payout.wallet.toLowerCase(), merchant.wallet);
  assert.equal(payout.tokenAddress.toLowerCase(), USDC);
  const other = await merchant.createIntent({ payoutChainReference: OTHER_CHAIN_ID });
  assert.deepEqual(
    [other.payout.chainReference, other.payout.wallet, other.payout.railId],
    ["31338", payout.wallet, "other:usdc"],
  );
});

test("D1, §1.2 create, read, list and event carry the same record; only the create returns the widget token", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { widgetToken, ...record } = await merchant.createIntent({ priceUnits: 5, metadata: { b: 1 } });
  assert.deepEqual(Object.keys(record).toSorted(), [
    "amounts",
    "archivedAt",
    "checkoutUrl",
    "created",
    "createdAt",
    "description",
    "feeBps",
    "inboxAddress",
    "inboxTerms",
    "intentId",
    "livemode",
    "merchantReference",
    "metadata",
    "object",
    "oneTime",
    "paymentStatus",
    "payout",
    "priceUnits",
    "returnUrl",
    "settledAt",
    "status",
    "updatedAt",
  ]);
  assert.deepEqual(Object.keys(record.payout).toSorted(), [
    "caip10",
    "caip19",
    "chainReference",
    "decimals",
    "namespace",
    "railId",
    "tokenAddress",
    "wallet",
  ]);
  const read = { ...record, created: false };
  assert.deepEqual((await merchant.get(`${URL}/${record.intentId}`)).body, read);
  assert.deepEqual((await merchant.get(URL)).body.data, [read]);
  const [{ data } = { data: undefined }] = await listEventsOf(api.world.db, record.intentId);
  assert.deepEqual(data, { object: read, previous: null });
  assert.ok(!JSON.stringify([data, read]).includes(widgetToken));
});

test("§4.2.2 wallet and token are pinned: a repeat returns them even after the account's defaults change", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const [payoutWallet, key] = [randomAddress(), { "idempotency-key": "order 7" }];
  const create = async (body: object, headers = {}) => (await merchant.post(URL, body, headers)).body;
  const first = await create({ payoutWallet, priceUnits: 5 }, key);
  const others = { currency: "DUSD", payout_wallet: randomAddress() };
  await api.world.db.root.updateTable("account").set(others).where("id", "=", merchant.accountId).execute();
  clearKeyCache(api.world);
  const byDefault = await create({ priceUnits: 5 });
  assert.deepEqual(
    [byDefault.payout.wallet.toLowerCase(), byDefault.payout.tokenAddress.toLowerCase()],
    [others.payout_wallet, DUSD],
    "these are the defaults now",
  );
  // One repeat omits the token, the other sends it.
  const repeats = [
    await create({ payoutWallet, priceUnits: 5 }, key),
    await create({ payoutWallet, payoutTokenAddress: USDC, priceUnits: 5 }),
  ];
  for (const again of repeats) assert.deepEqual([again.intentId, again.payout], [first.intentId, first.payout]);
  assert.deepEqual((await merchant.get(`${URL}/${first.intentId}`)).body.payout, first.payout);
});

test("D13 metadata keeps its key order, after integer keys", async () => {
  const merchant = await (await testApi()).openMerchant();
  const sent = '{"z":1,"9":{"b":[3,1,2],"a":null},"y":2,"0":true,"01":"x"}';
  const created = await merchant.post(URL, `{"metadata":${sent}}`);
  const read = await merchant.get(`${URL}/${created.body.intentId}`);
  const stored = '"metadata":{"0":true,"9":{"b":[3,1,2],"a":null},"z":1,"y":2,"01":"x"}';
  for (const { text } of [created, read]) assert.ok(text.includes(stored), text);
});

test("D16 a missing body counts as an empty object, with or without a content type", async () => {
  const merchant = await (await testApi()).openMerchant();
  const headers: Record<string, string>[] = [
    {},
    { "content-type": "application/json" },
    { "content-type": "text/plain" },
  ];
  for (const more of headers) assert.equal((await merchant.post(URL, undefined, more)).status, 201);
  const utf8 = await merchant.post(URL, "{}", { "content-type": "Application/JSON; charset=UTF-8" });
  assert.equal(utf8.status, 201);
});

test("D9 null equals absent, and 5.0 equals 5", async () => {
  const merchant = await (await testApi()).openMerchant();
  const fields = [
    "merchantReference",
    "metadata",
    "returnUrl",
    "description",
    "priceUnits",
    "oneTime",
    "payoutWallet",
    "payoutNamespace",
    "payoutChainReference",
    "payoutTokenAddress",
  ];
  const { status, body } = await merchant.post(URL, Object.fromEntries(fields.map((field) => [field, null])));
  assert.equal(status, 201);
  assert.deepEqual([body.priceUnits, body.oneTime, body.merchantReference, body.metadata], [null, false, null, null]);
  assert.equal((await merchant.post(URL, '{"priceUnits": 5.0}')).body.priceUnits, 5);
  assert.equal((await merchant.post(URL, '{"priceUnits": 9007199254740991}')).body.priceUnits, 9007199254740991);
});

test("D9 a price is scaled to the payout token's decimals", async () => {
  const merchant = await (await testApi()).openMerchant();
  const fine = await merchant.createIntent({ priceUnits: 1, payoutTokenAddress: DUSD });
  assert.equal(fine.amounts.priceUnits, "1000000000000");
  const coarse = await merchant.createIntent({ priceUnits: 1_230_000, payoutTokenAddress: TWO_DECIMAL_TOKEN });
  assert.equal(coarse.amounts.priceUnits, "123");
});

test("§4.2.5, §5.7 the same destination and terms return the same intent, with a fresh token", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const first = await merchant.createIntent({
    payoutWallet: merchant.wallet,
    priceUnits: 5,
    merchantReference: "a",
    metadata: { n: 1 },
  });
  api.advanceTime(1_000);
  const again = await merchant.createIntent({
    payoutWallet: merchant.wallet,
    priceUnits: 5,
    merchantReference: "b",
    metadata: { n: 2 },
  });
  assert.equal(again.intentId, first.intentId);
  assert.equal(again.inboxAddress, first.inboxAddress);
  assert.equal(again.created, false);
  assert.notEqual(again.widgetToken, first.widgetToken);
  assert.deepEqual([again.merchantReference, again.metadata], ["a", { n: 1 }], "D13 what is stored stays");
  assert.deepEqual({ ...again, widgetToken: undefined }, { ...first, created: false, widgetToken: undefined });
  const open = async (widgetToken: string) => {
    const headers = { "content-type": "application/json" };
    return (await api.send(`/c/${first.intentId}/session`, { method: "POST", headers, body: { widgetToken } })).status;
  };
  assert.deepEqual([await open(first.widgetToken), await open(again.widgetToken)], [401, 204]);
});

test("D18 destinations compare in resolved canonical form", async () => {
  const merchant = await (await testApi()).openMerchant();
  const first = await merchant.createIntent({ payoutNamespace: "eip155" });
  const spellings: object[] = [
    { payoutWallet: merchant.wallet },
    { payoutWallet: `0x${merchant.wallet.slice(2).toUpperCase()}` },
    { payoutChainReference: 31337 },
    { payoutChainReference: "31337" },
    { payoutTokenAddress: USDC, payoutWallet: first.payout.wallet },
  ];
  for (const spelling of spellings) assert.equal((await merchant.createIntent(spelling)).intentId, first.intentId);
});

test("§4.2.7 another chain, token or wallet is another destination", async () => {
  const merchant = await (await testApi()).openMerchant();
  const destinations: object[] = [
    { payoutChainReference: "31337" },
    { payoutChainReference: "31338" },
    { payoutTokenAddress: DUSD },
    { payoutWallet: randomAddress() },
  ];
  const ids = new Set<string>();
  for (const destination of destinations) ids.add((await merchant.createIntent(destination)).intentId);
  assert.equal(ids.size, destinations.length);
});

test("§4.2.8, §4.2.4 a create without a destination always creates an intent, and never occupies a destination", async () => {
  const merchant = await (await testApi()).openMerchant();
  const intents = [];
  for (const body of [{}, { merchantReference: "same" }, { merchantReference: "same" }])
    intents.push(await merchant.createIntent(body));
  assert.equal(new Set(intents.map((intent) => intent.intentId)).size, 3);
  assert.equal(new Set(intents.map((intent) => intent.inboxAddress)).size, 3);
  const named = await merchant.createIntent({ payoutWallet: merchant.wallet, priceUnits: 9 });
  assert.equal(named.created, true);
});

test("§4.2.3 another merchant's intent does not occupy the destination", async () => {
  const api = await testApi();
  const [one, other] = [await api.openMerchant(), await api.openMerchant()];
  const wallet = randomAddress();
  const first = await one.createIntent({ payoutWallet: wallet });
  const second = await other.createIntent({ payoutWallet: wallet });
  assert.equal(second.created, true);
  assert.notEqual(second.intentId, first.intentId);
});

test("§3.1 a settled intent frees its destination", async () => {
  const merchant: Merchant = await (await testApi()).openMerchant();
  const settled = await merchant.insertIntent({
    payout_wallet: merchant.wallet,
    one_time: true,
    price_token_units: 5n,
    status: "settled",
    occupies: true,
    settled_at: new Date("2026-11-01T12:00:00Z"),
  });
  const next = await merchant.createIntent({ payoutWallet: merchant.wallet, oneTime: true, priceUnits: 5 });
  assert.equal(next.created, true);
  assert.notEqual(next.intentId, settled.id);
});

test("D9 an accepted price equals the number in the request exactly", async () => {
  const api = await testApi();
  const digits = fc.stringMatching(/^-?\d{1,17}(\.\d{1,3})?([eE][+-]?\d{1,2})?$/);
  const plain = fc.integer({ min: -2, max: Number.MAX_SAFE_INTEGER }).map(String);
  await fc.assert(
    fc.asyncProperty(fc.oneof(digits, plain), async (text) => {
      // Each run uses its own account to stay below the rate limit.
      const merchant = await api.openMerchant();
      const response = await merchant.post(URL, `{"priceUnits": ${text}}`);
      if (response.status !== 201) return assert.equal(response.status, 400, text);
      const [, whole = "", fraction = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
      const shift = Number(exponent) - fraction.length;
      const scaled = BigInt(whole + fraction);
      const written = shift >= 0 ? scaled * 10n ** BigInt(shift) : scaled / 10n ** BigInt(-shift);
      if (shift < 0) assert.equal(scaled % 10n ** BigInt(-shift), 0n, text);
      assert.equal(BigInt(response.body.priceUnits), written, text);
    }),
    { numRuns: drawn(100) },
  );
});
