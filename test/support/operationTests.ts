import assert from "node:assert/strict";
import { test } from "node:test";
import { addMs } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { newApiKey } from "../../src/merchant/keys/apiKey.ts";
import { revokeKey } from "../../src/merchant/keys/revokeKey.ts";
import { OPERATIONS as OPERATION_LIST } from "../../src/http/operationList.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { CREATE_INTENTS, DEFAULT_SCOPES } from "../../src/merchant/keys/scopes.ts";
import { assertFault, testApi, UNKNOWN_ID, VERSION, type TestResponse, type Merchant, type TestApi } from "./api.ts";
import { otherSecretOf } from "./merchants.ts";
import { OPERATIONS, type OperationId, type OperationSpec } from "./operationSpecs.ts";

// Rules of every operation, as tests that each operation runs.

export type CallOptions = { id?: string; headers?: Record<string, string>; body?: unknown };

/** Calls an operation with a body that it accepts by default. `headers` are added to the merchant's own. */
export function callOperation(
  target: { operationId: OperationId; merchant: Merchant },
  options: CallOptions = {},
): Promise<TestResponse> {
  const shape: OperationSpec = OPERATIONS[target.operationId];
  const url = shape.path.replace("{id}", options.id ?? UNKNOWN_ID);
  if (shape.method === "GET") return target.merchant.get(url, options.headers);
  return target.merchant.sendBody(shape.method, url, { body: options.body ?? shape.body, headers: options.headers });
}

/** A merchant whose key may call the operation, and the id of what it is called with. */
export async function openCaller(api: TestApi, operationId: OperationId): Promise<{ merchant: Merchant; id: string }> {
  const { scope = CREATE_INTENTS, path }: OperationSpec = OPERATIONS[operationId];
  const merchant = await api.openMerchant({ scopes: [...new Set([...DEFAULT_SCOPES, scope])] });
  if (path.startsWith("/api/v1/webhook-endpoints/")) {
    const { body } = await merchant.post("/api/v1/webhook-endpoints", { url: "https://shop.example/hooks" });
    return { merchant, id: body.webhookEndpointId };
  }
  if (!path.startsWith("/api/v1/events/")) return { merchant, id: (await merchant.insertIntent()).id };
  await merchant.createIntent();
  while (!(await assignEventSequences(api.world)).isDone);
  return { merchant, id: (await merchant.get("/api/v1/events")).body.data[0].id };
}

function rawRequest(
  api: TestApi,
  operationId: OperationId,
  headers: Record<string, string | string[]>,
): Promise<TestResponse> {
  const { method, path }: OperationSpec = OPERATIONS[operationId];
  return api.send(path.replace("{id}", UNKNOWN_ID), { method, headers });
}

function addDays({ world }: TestApi, days: number): string {
  return addMs(world.clock.now(), days * 86_400_000)
    .toISOString()
    .slice(0, 10);
}

export function testVersionErrors(operationId: OperationId): void {
  test(`§5.5, §9.2, §9.3, D24 ${operationId}: the version is checked before everything else`, async () => {
    const api = await testApi();
    const soon = addDays(api, 2);
    const table: [string | undefined, string][] = [
      [undefined, "missing_version"],
      ["", "invalid_version"],
      ["v1", "invalid_version"],
      ["2026-2-1", "invalid_version"],
      ["2026-02-30", "invalid_version"],
      ["2025-02-29", "invalid_version"],
      ["2026-13-01", "invalid_version"],
      ["2026-11-01T00:00:00Z", "invalid_version"],
      ["+002026-11-01", "invalid_version"],
      ["latest", "invalid_version"],
      ["2026-11-01, 2026-11-01", "invalid_version"],
      ["2019-12-31", "unsupported_version"],
      [soon, "unsupported_version"],
    ];
    for (const [version, code] of table) {
      const answered = await rawRequest(api, operationId, version === undefined ? {} : { "service-version": version });
      const error = assertFault(answered, 400, code);
      assert.deepEqual(error.details.supported, [VERSION]);
    }
  });

  test(`D24 ${operationId}: every supported date gets the version of its time`, async () => {
    const api = await testApi();
    for (const version of ["2020-01-01", "2024-02-29", VERSION, addDays(api, 0), addDays(api, 1)]) {
      const answered = await rawRequest(api, operationId, { "service-version": version });
      assertFault(answered, 401, "unauthorized");
      assert.equal(answered.headers["service-version"], VERSION);
    }
  });
}

export function testApiKeyErrors(operationId: OperationId): void {
  test(`§5.1, D21 ${operationId}: every invalid key gets the same answer`, async () => {
    const api = await testApi();
    const { apiKey, keyId } = await api.openMerchant();
    const swapped = apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
    const wrong = [
      undefined,
      "",
      "Bearer",
      apiKey,
      `Basic ${apiKey}`,
      "Bearer nonsense",
      `Bearer ${swapped}`,
      `Bearer ${apiKey} x`,
      // These keys have a valid form, but no row.
      `Bearer ${newApiKey("test", systemEntropy).apiKey}`,
      `Bearer ${newApiKey("live", systemEntropy).apiKey}`,
      `Bearer ${otherSecretOf(keyId)}`,
    ];
    const bodies = new Set<string>();
    for (const authorization of wrong) {
      const headers = { "service-version": VERSION, ...(authorization === undefined ? {} : { authorization }) };
      const answered = await rawRequest(api, operationId, headers);
      const { request_id: requestId } = assertFault(answered, 401, "unauthorized");
      assert.match(String(answered.headers["www-authenticate"]), /^Bearer/);
      bodies.add(answered.text.replace(requestId, ""));
    }
    assert.equal(bodies.size, 1);
  });

  test(`D21 ${operationId}: revoked and expired keys get different errors`, async () => {
    const api = await testApi();
    const expired = await api.openMerchant({ expiresAt: addMs(api.world.clock.now(), -1_000) });
    assertFault(await callOperation({ operationId, merchant: expired }), 401, "key_expired");
    const revoked = await api.openMerchant();
    await revokeKey(api.world, revoked.keyId);
    assertFault(await callOperation({ operationId, merchant: revoked }), 401, "key_revoked");
  });
}

export function testScopeErrors(operationId: OperationId): void {
  test(`§5.4 ${operationId}: a key without the scope is refused, and the error names the scope`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant({ scopes: [] });
    const answered = await callOperation({ operationId, merchant }, { body: "not even JSON" });
    const error = assertFault(answered, 403, "insufficient_scope");
    const { scope = CREATE_INTENTS }: OperationSpec = OPERATIONS[operationId];
    assert.ok(error.message.includes(scope), error.message);
    assert.deepEqual(error.details, { requiredScope: scope });
    assert.ok(answered.headers["ratelimit-limit"]);
  });

  test(`D21 ${operationId}: a suspended account is refused`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant();
    await api.world.db.root
      .updateTable("account")
      .set({ status: "suspended" })
      .where("id", "=", merchant.accountId)
      .execute();
    assertFault(await callOperation({ operationId, merchant }), 403, "account_suspended");
  });
}

export function testRouteErrors(operationId: OperationId): void {
  const { method, path }: OperationSpec = OPERATIONS[operationId];
  const url = path.replace("{id}", UNKNOWN_ID);

  test(`§7.2.1, §9.1 ${operationId}: another path or method is not found, whatever the key and the body`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant();
    const others = [
      `${url}/`,
      `/${url}`,
      url.replace("/v1", ""),
      url.replace("/api", "/API"),
      url.replace("intents", "intents//"),
      `${url}%2F`,
    ];
    for (const headers of [merchant.headers, { "service-version": VERSION }]) {
      for (const other of others.filter((each) => each !== url)) {
        const answered = await api.send(other, { method, headers });
        assert.match(assertFault(answered, 404, "not_found").message, /No route/, other);
      }
    }
    const verbs = Object.values<OperationSpec>(OPERATIONS).flatMap((each) => (each.path === path ? [each.method] : []));
    for (const verb of ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE"].filter(
      (each) => !verbs.includes(each as "PUT"),
    )) {
      const answered = await api.send(url, { method: verb, headers: merchant.headers });
      assert.equal(answered.status, 404, verb);
    }
  });
}

const MALFORMED_IDS = [
  "x",
  "pi_",
  "PI_1",
  "%00",
  "%20",
  "..%5C",
  "%252F",
  "'%20or%201=1",
  "x".repeat(300),
  "%F0%9F%92%B8",
  UNKNOWN_ID,
];

export function testIdErrors(operationId: OperationId, archived: "absent" | "shown"): void {
  test(`§7.2.2, §4.3.2, §4.4.2, §4.6.4, §3.3, §1.5, §5.3, D26 ${operationId}: every id without an intent of this account gets the same answer`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant();
    const stranger = await api.openMerchant();
    const foreign = await stranger.insertIntent();
    const archivedIntent = await merchant.insertIntent({ status: "archived", archived_at: api.world.clock.now() });
    const ids = [...MALFORMED_IDS, foreign.id, ...(archived === "absent" ? [archivedIntent.id] : [])];
    const bodies = new Set<string>();
    for (const id of ids) {
      const answered = await callOperation({ operationId, merchant }, { id });
      const error = assertFault(answered, 404, "not_found");
      assert.equal(error.message, "No such intent.", id);
      bodies.add(answered.text.replace(error.request_id, ""));
    }
    assert.equal(bodies.size, 1);
    if (archived === "shown")
      assert.equal((await callOperation({ operationId, merchant }, { id: archivedIntent.id })).status, 200);
  });

  test(`D26 ${operationId}: an undecodable or empty path segment is not found`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant();
    for (const id of ["%zz", "%E0%A4%A", "", "a%2Fb"]) {
      const answered = await callOperation({ operationId, merchant }, { id });
      assert.match(assertFault(answered, 404, "not_found").message, /No route/, id);
    }
  });
}

/** No text of a path or a query reaches the database that it could not store. */
export function testUnstorableTexts(operationId: OperationId): void {
  const { path }: OperationSpec = OPERATIONS[operationId];
  const query = Object.keys(OPERATION_LIST.find((each) => each.operationId === operationId)?.query ?? {});
  if (!path.includes("{id}") && query.length === 0) return;

  test(`D26 ${operationId}: U+0000 in an id is a never-created id, and in a query parameter an invalid one`, async () => {
    const api = await testApi();
    const { merchant, id } = await openCaller(api, operationId);
    const ids = path.includes("{id}") ? ["%00", `${id}%00`, `%00${id}`, `${id.slice(0, 5)}%00`] : [];
    for (const unknown of ids)
      assertFault(await callOperation({ operationId, merchant }, { id: unknown }), 404, "not_found");
    for (const name of query)
      for (const text of ["%00", "a%00b", "evt_%00"]) {
        const answered = await merchant.get(`${path.replace("{id}", id)}?${name}=${text}`);
        assert.deepEqual([answered.status, answered.body.error.param], [400, name], answered.text);
      }
  });
}

export function testSizeErrors(operationId: OperationId): void {
  const { method, path }: OperationSpec = OPERATIONS[operationId];

  test(`D16 ${operationId}: a body above 64 KiB is refused before it is parsed`, async () => {
    const api = await testApi();
    const { merchant } = await openCaller(api, operationId);
    const send = (body: string) => {
      const headers = { ...merchant.headers, "content-type": "application/json" };
      return api.send(path.replace("{id}", UNKNOWN_ID), { method, headers, body });
    };
    assertFault(await send(" ".repeat(65_537)), 413, "payload_too_large");
    assert.notEqual((await send(" ".repeat(65_534) + "{}")).status, 413);
  });
}

export function testRateLimit(operationId: OperationId): void {
  const { perMinute }: OperationSpec = OPERATIONS[operationId];
  testRateLimitHeaders(operationId);

  test(`§8.1, D23 ${operationId}: ${perMinute} calls in any 60 seconds, and then the answer names the wait`, async () => {
    const api = await testApi();
    const { merchant } = await openCaller(api, operationId);
    // The view has a second limit per intent, so the ids vary.
    const call = (index: number) => callOperation({ operationId, merchant }, { id: `pi_${index % 7}` });
    const half = Math.floor(perMinute / 2);
    for (let index = 0; index < half; index += 1) assert.notEqual((await call(index)).status, 429);
    api.advanceTime(30_000);
    for (let index = half; index < perMinute; index += 1) assert.notEqual((await call(index)).status, 429);

    const refused = await call(0);
    assertFault(refused, 429, "rate_limited");
    const waitS = Number(refused.headers["retry-after"]);
    assert.ok(Number.isInteger(waitS) && waitS >= 1 && waitS <= 30, `Retry-After ${waitS}`);
    assert.equal(refused.headers["ratelimit-limit"], String(perMinute));
    assert.equal(refused.headers["ratelimit-remaining"], "0");
    assert.equal(refused.headers["ratelimit-reset"], String(waitS));

    api.advanceTime(waitS * 1_000);
    let takenCount = 0;
    for (let index = 0; index < perMinute; index += 1) takenCount += (await call(index)).status === 429 ? 0 : 1;
    assert.equal(takenCount, half, "the first half has left the window, and the second half has not");
    assertFault(await call(2), 429, "rate_limited");

    const other = await api.openMerchant();
    assert.notEqual(
      (await callOperation({ operationId, merchant: other })).status,
      429,
      "each account has its own limit",
    );
  });
}

/** Every response to a known key carries the rate limit headers, whatever its status. */
function assertRateLimitHeaders(answered: TestResponse, operationId: OperationId): void {
  const { perMinute }: OperationSpec = OPERATIONS[operationId];
  const { "ratelimit-limit": limit, "ratelimit-remaining": remaining, "ratelimit-reset": resetS } = answered.headers;
  assert.equal(limit, String(operationId === "recordIntentView" ? 30 : perMinute), answered.text);
  assert.match(String(remaining), /^\d+$/);
  assert.ok(Number(remaining) < Number(limit));
  assert.match(String(resetS), /^[1-9]\d?$/);
  assert.ok(Number(resetS) <= 60);
}

function testRateLimitHeaders(operationId: OperationId): void {
  test(`D23 ${operationId}: every answer to a known key shows the limit, and no other answer does`, async () => {
    const api = await testApi();
    const { merchant, id } = await openCaller(api, operationId);
    const lacking = await api.openMerchant({ scopes: [] });
    const { method, path, status }: OperationSpec = OPERATIONS[operationId];
    const hasId = path.includes("{id}");
    const call = (options: CallOptions) => callOperation({ operationId, merchant }, { id, ...options });
    const answers: [TestResponse, number][] = [
      [await call({}), status],
      [await callOperation({ operationId, merchant: lacking }, { id }), 403],
    ];
    if (hasId) answers.push([await call({ id: UNKNOWN_ID }), 404]);
    if (method !== "GET") {
      answers.push([await call({ body: "{" }), 400], [await call({ body: { x: 1 } }), 400]);
      answers.push([await call({ body: " ".repeat(65_537) }), 413]);
    }
    for (const [answered, expected] of answers) {
      assert.equal(answered.status, expected, answered.text);
      assertRateLimitHeaders(answered, operationId);
    }
    const without = await rawRequest(api, operationId, { "service-version": VERSION });
    assert.equal(without.headers["ratelimit-limit"], undefined);
  });
}
