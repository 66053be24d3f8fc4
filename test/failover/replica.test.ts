import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { Replica } from "../../src/db/postgres/replica.ts";
import { readFromReplica } from "../../src/http/reads/readFromReplica.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { CREATE_INTENTS, READ_DASHBOARD, READ_EVENTS } from "../../src/merchant/keys/scopes.ts";
import { createOpsCode } from "../../src/dashboard/opsSession.ts";
import { checkReplica } from "../../src/operator/doctor/checkReplica.ts";
import { openTestApi, type Merchant, type TestApi } from "../support/api.ts";
import { cookieOf, FORM, openPages } from "../support/dashboard.ts";
import { createDatabaseOn } from "../support/database.ts";
import { startServerPair, type ServerPair } from "../support/serverPair.ts";
import { openWebhooks } from "../support/webhooks.ts";

// An API beside a primary and the standby that follows it. The standby is made to cancel, to lag, and to go away.

const LAG_MS = 31_000;
const SKIP_MS = 5_000;
const AS_OF = "tributary-as-of";
const POLLS_MAX = 500;

describe("a copy of the database for readers", () => {
  let pair: ServerPair;
  let db: Db;
  let replica: Replica;
  let api: TestApi;
  let merchant: Merchant;
  let pages: Awaited<ReturnType<typeof openPages>>;
  let append: (labels: readonly string[]) => Promise<void>;
  let passedMs = 0;
  const closing = new AsyncDisposableStack();
  const clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), passedMs),
    monotonicMs: () => systemClock.monotonicMs() + passedMs,
  };

  before(async () => {
    pair = await startServerPair();
    closing.defer(() => pair.remove());
    await createDatabaseOn(pair.primary, "service");
    db = await openDatabase({ url: pair.urlOf("service") });
    closing.defer(() => db.close());
    const url = pair.standby.urlOf("service");
    replica = new Replica({ url, schema: undefined, clock, log: pino({ level: "silent" }) });
    closing.defer(() => replica.close());
    api = await openTestApi(db, { replica, clock });
    closing.defer(() => api.server.close());
    merchant = await api.openMerchant({ scopes: [CREATE_INTENTS, READ_EVENTS, READ_DASHBOARD] });
    pages = await openPages(api, merchant);
    const webhooks = openWebhooks(db);
    closing.defer(() => webhooks.close());
    append = async (labels) => {
      await webhooks.appendChanges(
        merchant.accountId,
        labels.map((label) => ({ intentNumber: null, label })),
      );
      await webhooks.work();
    };
  });
  after(() => closing.disposeAsync());

  const readFeed = async () => {
    const { status, body, headers } = await merchant.get("/api/v1/events?limit=100");
    assert.equal(status, 200);
    const asOf = headers[AS_OF];
    return { count: (body.data as unknown[]).length, asOf: typeof asOf === "string" ? asOf : undefined };
  };

  test("D52 the feed, lists, search and exports come from it and say how old they are", async () => {
    await append(["one", "two"]);
    await merchant.createIntent({ merchantReference: "copied" });
    await pair.untilReplicated();
    const { count, asOf } = await readFeed();
    assert.ok(count >= 2);
    assert.ok(Math.abs(Date.parse(asOf ?? "") - systemClock.now().getTime()) < LAG_MS, asOf);
    for (const path of ["", "/search?q=copied", "/events", "/payments.csv", "/payments.jsonl"])
      assert.ok((await pages.get(`/dashboard${path}`)).headers[AS_OF] !== undefined, path);
    assert.match(JSON.stringify(await checkReplica({ replica, clock })), /"ok".* s behind/);
  });

  test("D52 the rows of /ops come from it, and what says whether processes run does not", async () => {
    const { code } = await createOpsCode(api.world);
    const opened = await api.send("/ops/sign-in", { method: "POST", headers: FORM, body: `code=${code}` });
    const headers = { cookie: cookieOf(opened) };
    for (const path of ["/ops", "/ops/state", "/ops/search?q=pi_1"])
      assert.ok((await api.send(path, { headers })).headers[AS_OF] !== undefined, path);
    const { readAt, failure } = (await api.send("/ops/state", { headers })).body;
    assert.deepEqual([failure, Date.parse(readAt) < clock.now().getTime()], [null, true]);
  });

  test("D52 what a copy cancels is read from the primary, and the copy is left alone for a while", async () => {
    await askOn(pair.standby, "alter system set max_standby_streaming_delay = 0");
    await askOn(pair.standby, "select pg_reload_conf()");
    await untilTrue(async () => (await askOn(pair.standby, "show max_standby_streaming_delay")) === "0");
    const reading = readFromReplica({ db, replica }, async ({ db: read }) => {
      if (read === db) return "primary";
      await sql`select pg_sleep(60) from account`.execute(read.root);
      return "copy";
    });
    const sleeping = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    await untilTrue(async () => (await askOn(pair.standby, sleeping)) === "1");
    // A replayed lock cancels who reads the table there.
    await db.transaction(async (tx) => void (await sql`lock table account in access exclusive mode`.execute(tx)));
    assert.deepEqual(await reading, { result: "primary", asOf: undefined });
    assert.equal((await readFeed()).asOf, undefined);
    passedMs += SKIP_MS;
    assert.ok((await readFeed()).asOf !== undefined);
  });

  test("D52 what the specification has never comes from it", async () => {
    await pair.stopReplication();
    const { count } = await readFeed();
    await append(["three"]);
    const { intentId } = await merchant.createIntent({ merchantReference: "on the primary" });
    assert.equal((await readFeed()).count, count, "the copy lags");
    for (const path of [`/${intentId}`, `/${intentId}/deposits`, `/${intentId}/settlements`, "?limit=1"]) {
      const { status, headers, text } = await merchant.get(`/api/v1/intents${path}`);
      assert.deepEqual([status, headers[AS_OF]], [200, undefined], path);
      if (path.startsWith("?")) assert.ok(text.includes(intentId));
    }
    const page = await pages.get(`/dashboard/payments/${intentId}`);
    assert.deepEqual([page.status, page.headers[AS_OF]], [200, undefined]);
  });

  test("D52 a reader whose place the copy has not reached gets nothing, and no error", async () => {
    const { body, headers } = await merchant.get("/api/v1/events?after=1000");
    assert.deepEqual([body.data, body.has_more, body.next_cursor], [[], false, "1000"]);
    assert.ok(headers[AS_OF] !== undefined);
  });

  test("D52 a copy more than 30 s behind, and one that is away, are skipped", async () => {
    const stale = await readFeed();
    assert.ok(stale.asOf !== undefined);
    passedMs += LAG_MS;
    const fresh = await readFeed();
    assert.ok(fresh.count > stale.count && fresh.asOf === undefined, JSON.stringify(fresh));
    assert.match(JSON.stringify(await checkReplica({ replica, clock })), /"warn".*more than 30 s behind/);
    await pair.standby.stop();
    passedMs += SKIP_MS;
    assert.deepEqual(await readFeed(), fresh);
  });
});

async function askOn(server: ServerPair["standby"], text: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return String(Object.values(rows[0] ?? {})[0]);
  } finally {
    await client.end();
  }
}

async function untilTrue(isTrue: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if (await isTrue()) return;
    await delay(20);
  }
  assert.fail("the standby does not reach the expected state");
}
