import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type ClientOptions, type TributaryClient } from "@tributary/client";
import { TributaryError } from "@tributary/client/errors";
import { paginate } from "@tributary/client/paginate";
import { SETTLE_CHAIN_ID, testApi, UNKNOWN_ID, USDC, type Merchant, type TestApi } from "../support/api.ts";

const BASE_URL = "http://127.0.0.1:8787";

type SentRequest = { url: string; headers: Record<string, string>; body: string | undefined };
type ClientHarness = { client: TributaryClient; merchant: Merchant; requests: SentRequest[] };
/** The network's fault for one try; undefined forwards the request to the service. */
type NetworkFault = (tries: number, forward: () => Promise<Response>) => Promise<Response | undefined>;

/** A new merchant's client over the real service, through a network with faults. */
async function openClientHarness(
  options: Partial<ClientOptions> = {},
  fault: NetworkFault = async () => undefined,
): Promise<ClientHarness> {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const requests: SentRequest[] = [];
  const faultyFetch = async (input: string | URL | Request, init: RequestInit = {}) => {
    const request = {
      url: (input instanceof Request ? input.url : input.toString()).replace(BASE_URL, ""),
      headers: init.headers as Record<string, string>,
      body: init.body as string | undefined,
    };
    requests.push(request);
    const forward = () => forwardToService(api, request, init.method ?? "GET");
    return (await fault(requests.length, forward)) ?? forward();
  };
  const client = createClient({ baseUrl: BASE_URL, apiKey: merchant.apiKey, fetch: faultyFetch, ...options });
  return { client, merchant, requests };
}

async function forwardToService(api: TestApi, { url, headers, body }: SentRequest, method: string): Promise<Response> {
  const response = await api.send(url, { method, headers, body });
  const headerPairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response(response.text, { status: response.status, headers: headerPairs });
}

const unavailable = (status = 503, headers: Record<string, string> = { "retry-after": "0" }) =>
  new Response("<h1>Bad gateway</h1>", { status, headers });

async function expectError(call: Promise<unknown>): Promise<TributaryError> {
  const error = await call.then(
    () => assert.fail("it succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TributaryError, String(error));
  return error;
}

test("every client method calls its operation", async () => {
  const { client, merchant } = await openClientHarness();
  const created = await client.createPaymentIntent({ priceUnits: 25_000_000, metadata: { a: [1, null] } });
  const { intentId } = created;
  assert.deepEqual([created.created, created.metadata], [true, { a: [1, null] }]);
  assert.equal((await client.getPaymentIntent(intentId)).intentId, intentId);
  assert.deepEqual((await client.listPaymentIntents({ merchantReference: "nobody's" })).data, []);
  const { origins } = await client.listIntentOrigins(intentId);
  assert.ok(origins.some(({ chainId }) => chainId === SETTLE_CHAIN_ID));
  const { address } = await client.createIntentSourceInbox(intentId, { chainId: SETTLE_CHAIN_ID });
  assert.equal(address, created.inboxAddress);
  const selection = { namespace: "eip155", reference: String(SETTLE_CHAIN_ID), tokenAddress: USDC };
  assert.deepEqual(await client.recordIntentView(intentId, { selection }), { recorded: true });
  assert.deepEqual((await client.listIntentDeposits(intentId)).data, []);
  assert.deepEqual((await client.listIntentSettlements(intentId, { limit: 1 })).data, []);
  assert.equal((await client.archivePaymentIntent(intentId)).status, "archived");
  assert.equal(created.payout.wallet.toLowerCase(), merchant.wallet);
  const { origins: pages } = await client.replacePageOrigins({ origins: ["https://shop.example/"] });
  assert.deepEqual([pages, (await client.listPageOrigins()).origins], [["https://shop.example"], pages]);
  const { brand, support } = await client.updateAccount({ brand: { accent: "#7A1F3D" }, support: "help@shop.example" });
  assert.deepEqual([brand.accent, support], ["#7a1f3d", "mailto:help@shop.example"]);
  const account = await client.getAccount();
  assert.deepEqual([account.accountId, account.brand], [merchant.accountId, brand]);
});

test("a refused change throws an error that names the field and its entry", async () => {
  const { client } = await openClientHarness();
  const page = await expectError(client.replacePageOrigins({ origins: ["https://shop.example/cart"] }));
  assert.deepEqual([page.code, page.param], ["invalid_request", "origins[0]"]);
  const color = await expectError(client.updateAccount({ brand: { accent: "red" } }));
  assert.deepEqual([color.code, color.param], ["invalid_request", "brand.accent"]);
});

test("a refusal throws an error with the service's code, status, param and details", async () => {
  const { client, requests } = await openClientHarness();
  const error = await expectError(client.createPaymentIntent({ merchantReference: "" }));
  assert.deepEqual(
    [error.code, error.status, error.param, error.isRetryable],
    ["invalid_request", 400, "merchantReference", false],
  );
  assert.match(error.requestId ?? "", /^req_/);
  assert.equal(error.docs, `${BASE_URL}/docs/errors/invalid_request`);
  const conflict = await expectError(
    client
      .createPaymentIntent({ payoutTokenAddress: USDC, priceUnits: 5 })
      .then(() => client.createPaymentIntent({ payoutTokenAddress: USDC, priceUnits: 6 })),
  );
  assert.deepEqual([conflict.code, typeof conflict.details?.["intentId"]], ["destination_conflict", "string"]);
  assert.equal((await expectError(client.getPaymentIntent(UNKNOWN_ID))).code, "not_found");
  assert.equal(requests.length, 4, "none of them was sent again");
});

test("a call without an answer is retried with the same key and creates one intent", async () => {
  const lost: NetworkFault = async (tries, forward) => {
    if (tries > 1) return undefined;
    await forward();
    throw new TypeError("the connection broke");
  };
  const { client, requests } = await openClientHarness({ retriesMax: 1 }, lost);
  const created = await client.createPaymentIntent({ priceUnits: 7 });
  const keys = requests.map(({ headers }) => headers["idempotency-key"]);
  assert.deepEqual([requests.length, new Set(keys).size], [2, 1]);
  const { data } = await client.listPaymentIntents();
  assert.deepEqual(
    data.map(({ intentId }) => intentId),
    [created.intentId],
  );
});

test("D17 a caller's own idempotency key replays the first answer in a later call", async () => {
  const { client } = await openClientHarness();
  const [first, second] = [
    await client.createPaymentIntent({ priceUnits: 7 }, { idempotencyKey: "order-1" }),
    await client.createPaymentIntent({ priceUnits: 7 }, { idempotencyKey: "order-1" }),
  ];
  assert.equal(first.intentId, second.intentId);
  const reused = await expectError(client.createPaymentIntent({ priceUnits: 8 }, { idempotencyKey: "order-1" }));
  assert.deepEqual([reused.code, reused.status], ["idempotency_key_reuse", 409]);
});

test("temporary failures are retried, and lasting ones throw", async () => {
  const twice: NetworkFault = async (tries) => (tries <= 2 ? unavailable(tries === 1 ? 502 : 429) : undefined);
  const patient = await openClientHarness({}, twice);
  assert.equal((await patient.client.listPaymentIntents()).object, "list");
  assert.equal(patient.requests.length, 3);

  const always = await openClientHarness({ retriesMax: 2 }, async () => unavailable());
  const error = await expectError(always.client.listPaymentIntents());
  assert.deepEqual(
    [error.code, error.status, error.isRetryable, always.requests.length],
    ["unreadable_answer", 503, true, 3],
  );

  const refusal = { error: { code: "source_inbox_not_active", message: "No.", retryable: false } };
  const refused = await openClientHarness({}, async () => Response.json(refusal, { status: 503 }));
  assert.equal(
    (await expectError(refused.client.createIntentSourceInbox("pi_1", { chainId: 1 }))).code,
    "source_inbox_not_active",
  );
  assert.equal(refused.requests.length, 1, "what will not change is not asked again");
});

test("a call without an answer ends at its timeout or its caller's abort", async () => {
  const silent: NetworkFault = () => new Promise(() => {});
  const hanging = (init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
    });
  const options = {
    baseUrl: BASE_URL,
    apiKey: "none",
    retriesMax: 0,
    fetch: (_: unknown, init?: RequestInit) => hanging(init),
  };
  const error = await expectError(createClient({ ...options, timeoutMs: 5 }).getPaymentIntent("pi_1"));
  assert.deepEqual([error.code, error.status], ["no_answer", 0]);
  const firstAbort = new AbortController();
  const call = createClient(options).getPaymentIntent("pi_1", { signal: firstAbort.signal });
  firstAbort.abort(new Error("enough"));
  await assert.rejects(call, /enough/);
  const waiting = await openClientHarness({}, async (tries) =>
    tries === 1 ? unavailable(503, { "retry-after": "60" }) : silent(tries, async () => unavailable()),
  );
  const secondAbort = new AbortController();
  const later = waiting.client.listPaymentIntents({}, { signal: secondAbort.signal });
  secondAbort.abort(new Error("not so long"));
  await assert.rejects(later, /not so long/);
});

test("paginate returns a list in order, up to pagesMax", async () => {
  const { client, merchant } = await openClientHarness();
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift((await merchant.insertIntent()).id);
  const found: string[] = [];
  for await (const { intentId } of paginate(client.listPaymentIntents, { limit: 2 })) found.push(intentId);
  assert.deepEqual(found, ids);
  const walk = async () => {
    for await (const intent of paginate(client.listPaymentIntents, { limit: 2 }, { pagesMax: 2 })) assert.ok(intent);
  };
  await assert.rejects(walk, RangeError);
});

test("an id that would change the path is refused or encoded before the request", async () => {
  const { client, requests } = await openClientHarness();
  for (const id of ["", ".", ".."]) await assert.rejects(client.getPaymentIntent(id), RangeError);
  assert.equal((await expectError(client.getPaymentIntent("a b/../ä?x=1"))).code, "not_found");
  assert.deepEqual(
    requests.map(({ url }) => url),
    ["/api/v1/intents/a%20b%2F..%2F%C3%A4%3Fx%3D1"],
  );
});
