import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Db } from "../../src/db/database.ts";
import { assertFault, openTestApi, SETTLE_CHAIN_ID, type Merchant, type TestApi } from "../support/api.ts";
import {
  createPostgresDatabase,
  thoroughDatabases,
  openTestDatabase,
  type PostgresDatabase,
} from "../support/database.ts";
import { openDatabase } from "../../src/db/database.ts";

const DAY_MS = 86_400_000;

const URL = "/api/v1/intents";
/** Fewer on PGlite, whose single connection is slow. */
const REPLAYS = { pglite: 10, postgres: 100 };
const RACERS = 40;

const countIntents = async (db: Db, { accountId }: Merchant) =>
  (await db.root.selectFrom("intent").select("id").where("account_id", "=", accountId).execute()).length;

const keyed = (key: string | string[]) => ({ "idempotency-key": key });

for (const kind of thoroughDatabases) {
  describe(`Idempotency-Key on ${kind}`, () => {
    let api: TestApi;
    let merchant: Merchant;
    before(async () => {
      api = await openTestApi(await openTestDatabase(kind));
      merchant = await api.openMerchant();
    });
    after(async () => {
      await api.server.close();
      await api.world.db.close();
    });

    const post = (body: unknown, key: string) => {
      // Clears every rate limit.
      api.advanceTime(60_000);
      return merchant.post(URL, body, keyed(key));
    };
    const opens = async ({ intentId, widgetToken }: { intentId: string; widgetToken: string }) => {
      const headers = { "content-type": "application/json" };
      const opened = await api.send(`/c/${intentId}/session`, { method: "POST", headers, body: { widgetToken } });
      return opened.status === 204;
    };

    test("a create repeated many times without a destination makes one intent with one valid token", async () => {
      const body = { priceUnits: 5, metadata: { z: 1, a: [null, { y: 1.0 }] } };
      const first = await post(body, "order 1");
      assert.deepEqual([first.status, first.headers["idempotent-replayed"]], [201, undefined]);
      const { widgetToken, ...record } = first.body;
      assert.equal(record.created, true);
      const tokens = new Set([widgetToken]);
      let last = first;
      for (let replay = 0; replay < REPLAYS[kind]; replay += 1) {
        last = await post(body, "order 1");
        const { widgetToken: fresh, ...again } = last.body;
        assert.deepEqual([last.status, last.headers["idempotent-replayed"], again], [201, "true", record]);
        tokens.add(fresh);
      }
      assert.deepEqual([await countIntents(api.world.db, merchant), tokens.size], [1, REPLAYS[kind] + 1]);
      assert.equal(last.text.replace(last.body.widgetToken, widgetToken), first.text, "byte for byte");
      assert.deepEqual([await opens(first.body), await opens(last.body)], [false, true]);
    });

    test("D17 an equivalent body replays; another body is refused and writes nothing", async () => {
      const first = await post({ priceUnits: 5, oneTime: true }, "order 2");
      const before = await countIntents(api.world.db, merchant);
      for (const body of ['{"oneTime":true, "priceUnits":5.0}', '{"priceUnits":5,"oneTime":true,"metadata":null}']) {
        const again = await merchant.post(URL, body, { ...keyed("order 2"), "content-type": "application/json" });
        assert.deepEqual([again.status, again.body.intentId], [201, first.body.intentId]);
      }
      for (const body of [{ priceUnits: 5 }, { priceUnits: 5, oneTime: false }, {}]) {
        assertFault(await post(body, "order 2"), 409, "idempotency_key_reuse");
      }
      assert.equal(await countIntents(api.world.db, merchant), before);
      const other = await api.openMerchant();
      assert.equal((await other.post(URL, {}, keyed("order 2"))).body.created, true, "a key is the account's own");
    });

    test("D17 a replay returns the first answer, regardless of the intent's current state", async () => {
      const first = await post({}, "order 3");
      assert.equal((await merchant.post(`${URL}/${first.body.intentId}/archive`)).status, 200);
      const again = await post({}, "order 3");
      assert.deepEqual([again.body.status, again.headers["idempotent-replayed"]], ["active", "true"]);
      const { body: now } = await merchant.get(`${URL}/${first.body.intentId}`);
      assert.equal(now.status, "archived");
    });

    test("D17 only success is stored: after a conflict the same key may still create", async () => {
      const { wallet: payoutWallet } = merchant;
      const blocking = await merchant.createIntent({ payoutWallet, priceUnits: 5 });
      assertFault(await post({ payoutWallet, priceUnits: 6 }, "order 4"), 409, "destination_conflict");
      await merchant.post(`${URL}/${blocking.intentId}/archive`);
      const created = await post({ payoutWallet, priceUnits: 6 }, "order 4");
      assert.deepEqual([created.body.created, created.headers["idempotent-replayed"]], [true, undefined]);
    });

    test("D17 an answer is stored for a day, then the key is free", async () => {
      const first = await post({}, "order 5");
      // Each post advances the clock by a minute.
      api.advanceTime(DAY_MS - 60_001);
      assert.equal((await post({}, "order 5")).body.intentId, first.body.intentId);
      const next = await post({ priceUnits: 7 }, "order 5");
      assert.equal(next.status, 201);
      assert.notEqual(next.body.intentId, first.body.intentId);
    });

    test("D17 archive also takes a key, and the key belongs to one intent", async () => {
      const [one, other] = [await merchant.createIntent(), await merchant.createIntent()];
      const archive = (intentId: string) => merchant.post(`${URL}/${intentId}/archive`, {}, keyed("put away"));
      const first = await archive(one.intentId);
      const again = await archive(one.intentId);
      assert.deepEqual([again.status, again.text, again.headers["idempotent-replayed"]], [200, first.text, "true"]);
      assertFault(await archive(other.intentId), 409, "idempotency_key_reuse");
      assert.equal((await merchant.get(`${URL}/${other.intentId}`)).body.status, "active");
    });

    test("D17 a key has 1 to 255 printable characters and one header; the body is checked first", async () => {
      api.advanceTime(60_000);
      const invalidKeys = ["", "x".repeat(256), "tab\there", "caf\u00e9", ["one", "other"], ["same", "same"]];
      const before = await countIntents(api.world.db, merchant);
      for (const key of invalidKeys) {
        const error = assertFault(await merchant.post(URL, {}, keyed(key)), 400, "invalid_request");
        assert.equal(error.param, "Idempotency-Key", JSON.stringify(key));
      }
      const both = assertFault(await merchant.post(URL, { price: 5 }, keyed("")), 400, "invalid_request");
      assert.equal(both.param, "price");
      assert.equal(await countIntents(api.world.db, merchant), before);
      assert.equal((await merchant.post(URL, {}, keyed(`~ ${"x".repeat(253)}`))).status, 201);
    });

    test("D17 source-inbox and view ignore the key", async () => {
      const { intentId } = await merchant.createIntent();
      const calls: [string, object, number][] = [
        ["source-inbox", { chainId: SETTLE_CHAIN_ID }, 201],
        ["view", {}, 202],
        ["view", { selection: null }, 202],
      ];
      for (const [path, body, status] of calls) {
        for (const key of ["same", "", ["one", "other"]]) {
          const response = await merchant.post(`${URL}/${intentId}/${path}`, body, keyed(key));
          assert.deepEqual([response.status, response.headers["idempotent-replayed"]], [status, undefined]);
        }
      }
    });

    test("a repeated call returns an answer that was lost after the commit", async () => {
      const dbLosingAnswers: Db = {
        ...api.world.db,
        async transaction(run) {
          await api.world.db.transaction(run);
          throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
        },
      };
      const failingApi = await openTestApi(dbLosingAnswers, { clock: api.world.clock });
      const customer = await api.openMerchant();
      const headers = { ...customer.headers, ...keyed("order 6"), "content-type": "application/json" };
      const lost = await failingApi.send(URL, { method: "POST", headers, body: {} });
      await failingApi.server.close();
      assert.equal(assertFault(lost, 500, "internal_error").retryable, true);
      assert.equal(await countIntents(api.world.db, customer), 1);
      const again = await customer.post(URL, {}, keyed("order 6"));
      assert.deepEqual([again.body.created, again.headers["idempotent-replayed"]], [true, "true"]);
      assert.equal(await countIntents(api.world.db, customer), 1);
    });
  });
}

describe("Idempotency-Key between two services", () => {
  let database: PostgresDatabase;
  let apis: TestApi[];
  before(async () => {
    database = await createPostgresDatabase();
    const open = () => openDatabase({ url: database.url, allowUnsafeFsync: true });
    apis = await Promise.all([open().then((db) => openTestApi(db)), open().then((db) => openTestApi(db))]);
  });
  after(async () => {
    for (const { server, world } of apis) {
      await server.close();
      await world.db.close();
    }
    await database.drop();
  });

  test("parallel equal creates through both make one intent; the others get a retry-after of one second", async () => {
    const merchant = await apis[0]?.openMerchant();
    assert.ok(merchant);
    const headers = { ...merchant.headers, ...keyed("order 7"), "content-type": "application/json" };
    const send = (api: TestApi) => api.send(URL, { method: "POST", headers, body: {} });
    const racers = Array.from({ length: RACERS / 2 }, () => apis).flat();
    const answers = await Promise.all(racers.map(send));
    const ids = new Set<string>();
    for (const response of answers) {
      if (response.status === 201) ids.add(response.body.intentId);
      else if (response.status === 409) {
        assertFault(response, 409, "request_in_progress");
        assert.equal(response.headers["retry-after"], "1");
      } else assertFault(response, 429, "rate_limited");
    }
    assert.equal(ids.size, 1);
    const [api] = apis;
    assert.ok(api);
    assert.equal(await countIntents(api.world.db, merchant), 1);
  });
});
