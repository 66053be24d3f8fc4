import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type ClientOptions, type TributaryClient } from "@tributary/client";
import { TributaryError } from "@tributary/client/errors";
import { paginate } from "@tributary/client/paginate";
import { SETTLE_CHAIN_ID, testApi, UNKNOWN_ID, USDC, type Merchant, type TestApi } from "../support/api.ts";

const BASE_URL = "http://127.0.0.1:8787";

type SentRequest = { url: string; headers: Record<string, string>; body: string | undefined };
type ClientHarness = { client: TributaryClient; merchant: Merchant; requests: SentRequest[] };
/** What happens to one try on the way; undefined lets it reach the service. */
type NetworkFault = (tries: number, reach: () => Promise<Response>) => Promise<Response | undefined>;

/** A client of a new merchant over the real service, with a wire on which accidents happen. */
async function openClientHarness(
  options: Partial<ClientOptions> = {},
  accident: NetworkFault = async () => undefined,
): Promise<ClientHarness> {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const requests: SentRequest[] = [];
  const wire = async (input: string | URL | Request, init: RequestInit = {}) => {
    const one = {
      url: (input instanceof Request ? input.url : input.toString()).replace(BASE_URL, ""),
      headers: init.headers as Record<string, string>,
      body: init.body as string | undefined,
    };
    requests.push(one);
    const reach = () => forwardToService(api, one, init.method ?? "GET");
    return (await accident(requests.length, reach)) ?? reach();
  };
  const client = createClient({ baseUrl: BASE_URL, apiKey: merchant.apiKey, fetch: wire, ...options });
  return { client, merchant, requests };
}

async function forwardToService(api: TestApi, { url, headers, body }: SentRequest, method: string): Promise<Response> {
  const answered = await api.send(url, { method, headers, body });
  const told = Object.entries(answered.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response(answered.text, { status: answered.status, headers: told });
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

test("every operation of the service is reached by its method", async () => {
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
});

test("a refusal is an error with all that the service says", async () => {
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

test("what has no answer is asked again, and nothing is done twice by it", async () => {
  const lost: NetworkFault = async (tries, reach) => {
    if (tries > 1) return undefined;
    await reach();
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

test("D17 a key of one's own gives the first answer again, in another call too", async () => {
  const { client } = await openClientHarness();
  const [first, second] = [
    await client.createPaymentIntent({ priceUnits: 7 }, { idempotencyKey: "order-1" }),
    await client.createPaymentIntent({ priceUnits: 7 }, { idempotencyKey: "order-1" }),
  ];
  assert.equal(first.intentId, second.intentId);
  const reused = await expectError(client.createPaymentIntent({ priceUnits: 8 }, { idempotencyKey: "order-1" }));
  assert.deepEqual([reused.code, reused.status], ["idempotency_key_reuse", 409]);
});

test("a proxy's or the service's temporary failure is waited out, and a lasting one is told", async () => {
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

test("what never answers ends when its time is over or its caller has given up", async () => {
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
  const giveUp = new AbortController();
  const call = createClient(options).getPaymentIntent("pi_1", { signal: giveUp.signal });
  giveUp.abort(new Error("enough"));
  await assert.rejects(call, /enough/);
  const waiting = await openClientHarness({}, async (tries) =>
    tries === 1 ? unavailable(503, { "retry-after": "60" }) : silent(tries, async () => unavailable()),
  );
  const second = new AbortController();
  const later = waiting.client.listPaymentIntents({}, { signal: second.signal });
  second.abort(new Error("not so long"));
  await assert.rejects(later, /not so long/);
});

test("a list is walked to its end, in order, and no further than it may be", async () => {
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

test("an id that would make another address is refused before it is sent", async () => {
  const { client, requests } = await openClientHarness();
  for (const id of ["", ".", ".."]) await assert.rejects(client.getPaymentIntent(id), RangeError);
  assert.equal((await expectError(client.getPaymentIntent("a b/../ä?x=1"))).code, "not_found");
  assert.deepEqual(
    requests.map(({ url }) => url),
    ["/api/v1/intents/a%20b%2F..%2F%C3%A4%3Fx%3D1"],
  );
});
