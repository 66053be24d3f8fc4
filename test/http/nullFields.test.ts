import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, SETTLE_CHAIN_ID, testApi, USDC } from "../support/api.ts";
import { SCOPES } from "../../src/merchant/keys/scopes.ts";
import { OPERATIONS, type OperationId } from "../support/operationSpecs.ts";

// A null in an optional field means that the field is absent.

const URL = "/api/v1/intents";

/** The record without the fields that differ per call. */
function withoutPerCallFields({
  intentId,
  inboxAddress,
  inboxTerms,
  checkoutUrl,
  widgetToken,
  ...record
}: Record<string, unknown>) {
  assert.ok(intentId && inboxAddress && inboxTerms && checkoutUrl && widgetToken);
  return record;
}

test("D9, D10, D12, D13 a null field of a create counts as absent", async () => {
  const merchant = await (await testApi()).openMerchant();
  const whole = { merchantReference: "a", metadata: { b: 1 }, priceUnits: 5, oneTime: true };
  for (const field of Object.keys(whole)) {
    const { [field]: _, ...rest } = whole as Record<string, unknown>;
    const absent = await merchant.post(URL, rest);
    const nulled = await merchant.post(URL, { ...rest, [field]: null });
    if (field === "priceUnits") {
      for (const response of [absent, nulled]) assertFault(response, 400, "price_required");
    } else {
      assert.deepEqual([absent.status, nulled.status], [201, 201], nulled.text);
      assert.deepEqual(withoutPerCallFields(nulled.body), withoutPerCallFields(absent.body), field);
    }
  }
});

test("D11, D18 a null payout field counts as absent: alone it creates an intent, with others it is inherited", async () => {
  const merchant = await (await testApi()).openMerchant();
  const whole: Record<string, unknown> = {
    payoutNamespace: "eip155",
    payoutChainReference: String(SETTLE_CHAIN_ID),
    payoutWallet: merchant.wallet,
    payoutTokenAddress: USDC,
  };
  const found = await merchant.createIntent(whole);
  for (const field of Object.keys(whole)) {
    const [first, second] = [
      await merchant.createIntent({ [field]: null }),
      await merchant.createIntent({ [field]: null }),
    ];
    assert.deepEqual([first.created, second.created, first.intentId === second.intentId], [true, true, false], field);
    const again = await merchant.createIntent({ ...whole, [field]: null });
    assert.deepEqual([again.created, again.intentId], [false, found.intentId], field);
  }
});

test("D17 null fields do not change the request under an Idempotency-Key", async () => {
  const merchant = await (await testApi()).openMerchant();
  const headers = { "idempotency-key": "one" };
  const first = await merchant.post(URL, { priceUnits: 5 }, headers);
  const again = await merchant.post(URL, { priceUnits: 5, metadata: null, payoutWallet: null }, headers);
  assert.deepEqual([again.status, again.body.intentId], [201, first.body.intentId]);
  assert.equal(again.headers["idempotent-replayed"], "true");
});

test("D29, D30 null fields of an origin or a view count as absent", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const url = `${URL}/${intentId}`;
  const named = { chainId: SETTLE_CHAIN_ID, namespace: null, reference: null, mint: null };
  assert.equal((await merchant.post(`${url}/source-inbox`, named)).status, 201);
  const onSolana = { chainId: null, namespace: "solana", reference: "x", mint: "y" };
  assertFault(await merchant.post(`${url}/source-inbox`, onSolana), 400, "unsupported_origin");
  const neither = { chainId: null, namespace: null, reference: null, mint: null };
  assertFault(await merchant.post(`${url}/source-inbox`, neither), 400, "invalid_request");
  assert.deepEqual((await merchant.post(`${url}/view`, { selection: null })).body, { recorded: true });
});

test("D14 every list refuses a repeated known query parameter in any spelling", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { id } = await merchant.insertIntent();
  for (const list of [URL, `${URL}/${id}/deposits`, `${URL}/${id}/settlements`]) {
    for (const query of ["limit=5&limit=5", "limit=5&cursor=x&limit=6", "limit=5&%6cimit=5", "cursor=&cursor="]) {
      assertFault(await merchant.get(`${list}?${query}`), 400, "invalid_request");
    }
    for (const query of ["", "?", "?limit=100", "?limit=1"])
      assert.equal((await merchant.get(list + query)).status, 200, query);
    for (const limit of ["0", "101", "1e2", "null"])
      assert.equal(assertFault(await merchant.get(`${list}?limit=${limit}`), 400, "invalid_request").param, "limit");
    for (const cursor of ["", "null", "AAAA", "%00", "..%2f"])
      assert.equal(assertFault(await merchant.get(`${list}?cursor=${cursor}`), 400, "invalid_cursor").param, "cursor");
  }
});

test("D14a every operation refuses unknown query parameters, and names the nearest", async () => {
  const api = await testApi();
  for (const operationId of Object.keys(OPERATIONS) as OperationId[]) {
    const merchant = await api.openMerchant({ scopes: SCOPES });
    const { id } = await merchant.insertIntent();
    const { method, path } = OPERATIONS[operationId];
    const body = "body" in OPERATIONS[operationId] ? (OPERATIONS[operationId] as { body: object }).body : undefined;
    for (const query of ["x=1", "x=1&x=2", "__proto__=3", "constructor=4", "prices[]=5"]) {
      const url = `${path.replace("{id}", id)}?${query}`;
      const response = method === "GET" ? await merchant.get(url) : await merchant.sendBody(method, url, { body });
      assert.equal(assertFault(response, 400, "invalid_request").param, query.split("=")[0], `${operationId} ${query}`);
    }
  }
  const merchant = await api.openMerchant();
  const { message } = assertFault(
    await merchant.get("/api/v1/intents?merchantRefrence=order-1"),
    400,
    "invalid_request",
  );
  assert.match(
    message,
    /"merchantRefrence" is not a query parameter of this request\. Did you mean merchantReference\?/,
  );
});
