import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { toClientNetwork } from "../../src/http/rate/clientNetwork.ts";
import { createLocalRateLimiter } from "../../src/http/rate/localRateLimiter.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import type { World } from "../../src/world.ts";
import {
  assertFault,
  openTestApi,
  testApi,
  UNKNOWN_ID,
  VERSION,
  type TestResponse,
  type Merchant,
  type TestApi,
} from "../support/api.ts";
import { openCheckout, withCookie } from "../support/checkout.ts";
import { createPostgresDatabase, openTestDatabase, type PostgresDatabase } from "../support/database.ts";

const URL = "/api/v1/intents";
const HOUR_MS = 3_600_000;
const WRONG_KEYS_MAX = 600;

// One process's clock is an hour behind, the other's an hour ahead.
describe("rate limits of two services on one PostgreSQL", () => {
  let database: PostgresDatabase;
  let apis: TestApi[];
  let merchant: Merchant;

  before(async () => {
    database = await createPostgresDatabase();
    const open = async (offMs: number) => {
      const clock = { ...systemClock, now: () => addMs(systemClock.now(), offMs) };
      return openTestApi(await openDatabase({ url: database.url, allowUnsafeFsync: true }), { clock });
    };
    apis = [await open(-HOUR_MS), await open(HOUR_MS)];
    const [first] = apis;
    assert.ok(first);
    merchant = await first.openMerchant();
  });
  after(async () => {
    for (const { server, world } of apis) {
      await server.close();
      await world.db.close();
    }
    await database.drop();
  });

  const burst = (count: number) => {
    const calls = Array.from({ length: count / apis.length }, () => apis).flat();
    return Promise.all(calls.map((api) => api.send(URL, { headers: merchant.headers })));
  };

  test("D38 the page's routes have one limit for both services, by session", async () => {
    const [one] = apis;
    assert.ok(one);
    const created = await merchant.createIntent();
    const { cookie } = await openCheckout(one, created);
    const pages = apis.map((api) => withCookie(api, created.intentId, cookie));
    const answers: TestResponse[] = [];
    for (let round = 0; round < 70; round += 1)
      answers.push(...(await Promise.all(pages.map((page) => page.get("state")))));
    const passed = answers.filter(({ status }) => status === 200);
    assert.ok(passed.length <= 120 && passed.length >= 100, `${passed.length} of 140 passed`);
    for (const page of pages) {
      const refused = await page.get("state");
      assertFault(refused, 429, "rate_limited");
      assert.ok(Number(refused.headers["retry-after"]) > 0);
    }
  });

  test("two services together admit at most the limit of 500 parallel calls", async () => {
    const answers = await burst(500);
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(passed.length + refused.length, 500);
    // The whole limit passes, less permits that one service leased and did not use.
    assert.ok(passed.length <= 60 && passed.length >= 55, `${passed.length} passed`);
    for (const response of [...passed, ...refused]) {
      assert.equal(response.headers["ratelimit-limit"], "60");
      const left = Number(response.headers["ratelimit-remaining"]);
      assert.ok(left >= 0 && left < 60);
      const resetS = Number(response.headers["ratelimit-reset"]);
      assert.ok(Number.isInteger(resetS) && resetS >= 1 && resetS <= 60, `${resetS} s`);
    }
    for (const response of refused) {
      assertFault(response, 429, "rate_limited");
      const waitS = Number(response.headers["retry-after"]);
      assert.ok(Number.isInteger(waitS) && waitS >= 1 && waitS <= 60, `${waitS} s`);
    }
    assert.equal((await burst(20)).filter(({ status }) => status === 200).length <= 60 - passed.length, true);
  });

  test("all spellings of a path and all keys of an account share one count", async () => {
    const { createKey } = await import("../../src/merchant/keys/createKey.ts");
    const [api] = apis;
    assert.ok(api);
    const customer = await api.openMerchant();
    const scopes = ["payment_intents:create"];
    const { apiKey } = await createKey(api.world, { accountId: customer.accountId, scopes });
    const other: Merchant = { ...customer, headers: { ...customer.headers, authorization: `bearer  ${apiKey}` } };
    const statuses: number[] = [];
    for (const [url, caller] of [
      [`${URL}?limit=1`, customer],
      ["/api/v1/%69ntents", other],
      [URL, other],
    ] as const) {
      const calls = Array.from({ length: 30 }, () => apis).flat();
      const sent = calls.map(async (each) => (await each.server.inject({ url, headers: caller.headers })).statusCode);
      statuses.push(...(await Promise.all(sent)));
    }
    assert.ok(statuses.filter((status) => status === 200).length <= 60);
    assert.deepEqual(new Set(statuses), new Set([200, 429]));
  });

  test("both limits of a view apply, and each call counts against both", async () => {
    const [api] = apis;
    assert.ok(api);
    const customer = await api.openMerchant();
    const [one, other] = [await customer.insertIntent(), await customer.insertIntent()];
    const view = async (id: string) => {
      const headers = { ...customer.headers, "content-type": "application/json" };
      const sent = Array.from({ length: 50 }, () =>
        api.send(`${URL}/${id}/view`, { method: "POST", headers, body: {} }),
      );
      return (await Promise.all(sent)).filter(({ status }) => status === 202).length;
    };
    assert.equal(await view(one.id), 30);
    // All fifty calls counted for the operation, although the intent's own limit refused twenty.
    assert.equal(await view(other.id), 10);
  });
});

test("D25 D23 without the counting database no call passes, answers state the limits, and a wrong key still gets 401", async () => {
  const db = await openTestDatabase("postgres");
  let isAway = false;
  const flaky: Db = {
    ...db,
    get root() {
      if (isAway) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      return db.root;
    },
  };
  const api = await openTestApi(flaky);
  const merchant = await api.openMerchant();
  assert.equal((await merchant.get(URL)).status, 200);
  isAway = true;
  const rateHeaders = ({ headers }: TestResponse) =>
    ["limit", "remaining", "reset"].map((name) => headers[`ratelimit-${name}`]?.toString());
  const one = `${URL}/${UNKNOWN_ID}`;
  // The key is still cached. Only the database knows the count, except for permits leased before.
  const nothingLeft: [TestResponse, string, string][] = [
    [await merchant.get(one), "120", "internal_error"],
    [await merchant.post(URL, {}), "30", "internal_error"],
    [await merchant.post(`${one}/view`, {}), "30", "internal_error"],
    [await merchant.post(`${one}/source-inbox`, { chainId: 1 }), "30", "source_inbox_unavailable"],
  ];
  for (const [refused, limit, code] of nothingLeft) {
    assert.equal(assertFault(refused, code === "internal_error" ? 500 : 503, code).retryable, true);
    assert.deepEqual([refused.headers["retry-after"], ...rateHeaders(refused)], ["5", limit, "0", "5"]);
    assert.equal(refused.headers["service-version"], VERSION);
  }
  const leased = await merchant.get(URL);
  assertFault(leased, 500, "internal_error");
  assert.deepEqual(rateHeaders(leased), ["60", "58", "60"]);
  api.advanceTime(1_000);
  // The cached key has expired.
  const unknown = await merchant.get(URL);
  assertFault(unknown, 500, "internal_error");
  assert.deepEqual([unknown.headers["retry-after"], ...rateHeaders(unknown)], ["5", undefined, undefined, undefined]);
  const headers = { "service-version": VERSION, authorization: "Bearer guess" };
  assertFault(await api.send(URL, { headers }), 401, "unauthorized");
  isAway = false;
  assert.equal((await merchant.get(URL)).status, 200);
  await api.server.close();
  await db.close();
});

describe("key guessing", () => {
  let guesses = 0;
  const guess = (api: TestApi, from: { remoteAddress?: string; forwarded?: string }) =>
    api.server.inject({
      url: URL,
      headers: {
        "service-version": VERSION,
        authorization: `Bearer guess${(guesses += 1)}`,
        ...(from.forwarded === undefined ? {} : { "x-forwarded-for": from.forwarded }),
      },
      ...(from.remoteAddress === undefined ? {} : { remoteAddress: from.remoteAddress }),
    });

  async function withApi(trustedProxies: readonly string[], run: (api: TestApi) => Promise<void>): Promise<void> {
    const { world } = await testApi();
    const config: World["config"] = { ...world.config, trustedProxies };
    const api = await openTestApi(world.db, { config });
    await run(api);
    await api.server.close();
  }

  async function sendWrongKeys(api: TestApi, fromOf: (index: number) => Parameters<typeof guess>[1]): Promise<number> {
    let refused = 0;
    for (let index = 0; index < WRONG_KEYS_MAX + 10; index += 1) {
      const { statusCode } = await guess(api, fromOf(index));
      assert.ok(statusCode === 401 || statusCode === 429);
      if (statusCode === 429) refused += 1;
    }
    return refused;
  }

  test("X-Forwarded-For counts only when a trusted proxy sends it", async () => {
    const named = (index: number) => ({ forwarded: `203.0.${index >> 8}.${index & 255}` });
    await withApi(["10.0.0.0/8"], async (api) => {
      assert.equal(await sendWrongKeys(api, (index) => ({ remoteAddress: "198.51.100.1", ...named(index) })), 10);
      assert.equal(await sendWrongKeys(api, (index) => ({ remoteAddress: "10.1.2.3", ...named(index) })), 0);
      // The caller controls every entry before the address that the proxy appended.
      const invented = (index: number) => `${named(index).forwarded}, 192.0.2.9`;
      assert.equal(
        await sendWrongKeys(api, (index) => ({ remoteAddress: "10.1.2.3", forwarded: invented(index) })),
        10,
      );
    });
  });

  test("D23 a valid key passes from an address that is blocked for guessing", async () => {
    await withApi([], async (api) => {
      assert.equal(await sendWrongKeys(api, () => ({})), 10);
      const merchant = await api.openMerchant();
      assert.equal((await merchant.get(URL)).status, 200);
    });
  });

  test("D23 all addresses of an IPv6 /64 count as one client", () => {
    const table: [string, string][] = [
      ["192.0.2.1", "192.0.2.1"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::ffff:c000:201", "192.0.2.1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:db8:1:2::", "2001:db8:1:2::/64"],
      ["2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
      ["2001:db8::5", "2001:db8:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
      ["unknown", "unknown"],
      ["x".repeat(5_000), "x".repeat(45)],
    ];
    for (const [address, network] of table) assert.equal(toClientNetwork(address), network);
  });

  test("the local limiter keeps at most its maximum of counts for 100,000 keys", async () => {
    let nowMs = 0;
    const keysMax = 1_000;
    const log = createLocalRateLimiter({ monotonicMs: () => nowMs }, keysMax);
    const limit = 2;
    await log.tryAcquire("first", limit);
    for (let index = 0; index < 100_000; index += 1) await log.tryAcquire(`guess ${index}`, limit);
    assert.equal(
      (await log.tryAcquire("first", limit)).remaining,
      1,
      "it was the longest unused one, and is forgotten",
    );
    assert.equal((await log.tryAcquire(`guess ${100_000 - keysMax / 2}`, limit)).remaining, 0, "a recent one is not");
    nowMs += 60_000;
    assert.equal((await log.tryAcquire("first", limit)).remaining, 1);
  });
});
