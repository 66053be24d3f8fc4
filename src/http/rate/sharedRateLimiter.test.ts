import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { sql } from "kysely";
import { openTestDatabase } from "../../../test/support/database.ts";
import type { Db } from "../../db/database.ts";
import { WINDOW_MS } from "./rateLimiter.ts";
import { createSharedRateLimiter, type SharedRateLimiter } from "./sharedRateLimiter.ts";
import { createLocalRateLimiter } from "./localRateLimiter.ts";
import { purgeExpiredKeys, LEASE_MS } from "./leaseStore.ts";

// Several processes on one PostgreSQL server. The test advances the server's clock and theirs together. Wall clocks are
// never read; the monotonic clock of each process starts at a different value.

const LIMIT = 30;
const serverMs = "(select ms from test_clock)";

let db: Db;
let statementCount = 0;
let countingDb: Db;
let passedMs = 0;
let keyCount = 0;

before(async () => {
  db = await openTestDatabase("postgres");
  await sql`create table test_clock (ms bigint not null)`.execute(db.root);
  await sql`insert into test_clock values (1000000)`.execute(db.root);
  countingDb = {
    ...db,
    get root() {
      statementCount += 1;
      return db.root;
    },
  };
});
after(() => db.close());

const newKey = () => `key ${keyCount++}`;

/** Creates the limiter of a process with its own monotonic clock. */
function createProcessLimiter(
  name: string,
  options: { keysMax?: number; initialPermits?: number } = {},
): SharedRateLimiter {
  const bootedMs = name.length * 7_777_777 + 0.25;
  const world = { db: countingDb, clock: { monotonicMs: () => passedMs + bootedMs } };
  return createSharedRateLimiter(world, { holder: name, prefix: "test ", nowMs: serverMs, ...options });
}

async function advanceTime(durationMs: number): Promise<void> {
  passedMs += durationMs;
  await sql`update test_clock set ms = ms + ${durationMs}`.execute(db.root);
}

async function acquireMany(log: SharedRateLimiter, key: string, count: number): Promise<number> {
  const all = await Promise.all(Array.from({ length: count }, () => log.tryAcquire(key, LIMIT)));
  return all.filter(({ isAllowed }) => isAllowed).length;
}

function maxCallsInWindow(madeAtMs: readonly number[]): number {
  const sorted = madeAtMs.toSorted((one, other) => one - other);
  const inWindowFrom = (from: number) => sorted.filter((at) => at >= from && at < from + WINDOW_MS).length;
  return Math.max(0, ...sorted.map(inWindowFrom));
}

const step = fc.record({
  process: fc.nat(2),
  calls: fc.nat(12),
  fate: fc.constantFrom("nothing", "nothing", "back", "die"),
  waitMs: fc.oneof(fc.nat(50), fc.nat(LEASE_MS * 2), fc.nat(WINDOW_MS)),
});

test("D23 any 60 seconds contain at most the limit, when processes lease, release or die", async () => {
  const most: number[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const key = newKey();
      const processes = ["a", "bb", "ccc"].map((name) =>
        createProcessLimiter(name, name === "a" ? { initialPermits: 2 } : {}),
      );
      const madeAtMs: number[] = [];
      for (const { process, calls, fate, waitMs } of steps) {
        // All three run concurrently, so that they contend in the database.
        const busy = processes.map((log, index) => acquireMany(log, key, index === process ? calls : calls % 3));
        for (const made of await Promise.all(busy)) madeAtMs.push(...Array.from({ length: made }, () => passedMs));
        if (fate === "back") await Promise.all(processes.map((log) => log.releaseUnused("lapsed", 100)));
        if (fate === "die") processes[process] = createProcessLimiter(["a", "bb", "ccc"][process] ?? "");
        await advanceTime(waitMs);
      }
      most.push(maxCallsInWindow(madeAtMs));
      assert.ok((most.at(-1) ?? 0) <= LIMIT);
    }),
    { numRuns: 15 },
  );
  assert.ok(Math.max(...most) === LIMIT, "some run must reach the limit");
});

test("D23 for a single process it decides every call like the local limiter", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const key = newKey();
      const shared = createProcessLimiter("alone");
      const exact = createLocalRateLimiter({ monotonicMs: () => passedMs });
      for (const { calls, fate, waitMs } of steps) {
        for (let call = 0; call < calls; call += 1) {
          const [one, other] = [await shared.tryAcquire(key, LIMIT), await exact.tryAcquire(key, LIMIT)];
          assert.equal(one.isAllowed, other.isAllowed);
          if (!one.isAllowed) assert.equal(one.resetMs, other.resetMs);
          assert.ok(one.remaining <= other.remaining && one.resetMs > 0);
        }
        if (fate === "back") await shared.releaseUnused("lapsed", 100);
        await advanceTime(waitMs);
      }
    }),
    { numRuns: 15 },
  );
});

test("performance: using up a limit takes a handful of statements, and refusals take one per second", async () => {
  const [key, log] = [newKey(), createProcessLimiter("alone")];
  statementCount = 0;
  assert.equal(await acquireMany(log, key, LIMIT), LIMIT);
  assert.ok(statementCount <= 8, `${statementCount} statements`);
  statementCount = 0;
  for (let call = 0; call < 100; call += 1) assert.equal((await log.tryAcquire(key, LIMIT)).isAllowed, false);
  assert.equal(statementCount, 1);
  await advanceTime(1_000);
  assert.equal(await acquireMany(log, key, 50), 0);
  assert.equal(statementCount, 2);
});

test("a new key leases few permits, and each further lease doubles", async () => {
  const [once, often, limit] = [newKey(), newKey(), 600];
  const log = createProcessLimiter("thrifty", { initialPermits: 4 });
  const counted = async (key: string) => {
    const row = db.root.selectFrom("rate_log").select("counted_until_ms").where("key", "=", `test ${key}`);
    return (await row.executeTakeFirstOrThrow()).counted_until_ms.length;
  };
  await log.tryAcquire(once, limit);
  assert.equal(await counted(once), 4);
  statementCount = 0;
  let made = 0;
  for (const upTo of [4, 12, 28, 60, 124]) {
    while (made < upTo) made += (await log.tryAcquire(often, limit)).isAllowed ? 1 : 0;
    assert.equal(await counted(often), upTo);
  }
  assert.equal(statementCount, 5);
  for (let call = 0; call < limit; call += 1) made += (await log.tryAcquire(often, limit)).isAllowed ? 1 : 0;
  assert.equal(made, limit);
  assert.ok(statementCount <= 18, `${statementCount} statements`);
});

test("D23 permits that a process does not use are free for others, after the lease at the latest", async () => {
  const key = newKey();
  const [idle, busy] = [createProcessLimiter("idle"), createProcessLimiter("busy")];
  assert.equal(await acquireMany(idle, key, 1), 1);
  const atOnce = await acquireMany(busy, key, LIMIT);
  assert.ok(atOnce >= LIMIT / 2 && atOnce < LIMIT, `${atOnce} at once`);
  await advanceTime(LEASE_MS);
  await idle.releaseUnused("lapsed", 100);
  assert.equal(atOnce + (await acquireMany(busy, key, LIMIT)), LIMIT - 1);
});

test("D23 the permits of a dead process are free again after its lease and the window", async () => {
  const key = newKey();
  const [dying, other] = [createProcessLimiter("dying"), createProcessLimiter("other")];
  assert.equal(await acquireMany(dying, key, 1), 1);
  const atOnce = await acquireMany(other, key, LIMIT);
  await advanceTime(WINDOW_MS);
  assert.equal(await acquireMany(other, key, LIMIT), atOnce, "the dead process's permits still count");
  await advanceTime(LEASE_MS);
  assert.equal(await acquireMany(other, key, LIMIT), LIMIT - atOnce);
});

test("D23 permits that were leased before the database's clock stepped back an hour do not count for that hour", async () => {
  const key = newKey();
  const limiter = createProcessLimiter("stepping");
  assert.equal(await acquireMany(limiter, key, LIMIT), LIMIT);
  await sql`update test_clock set ms = ms - 3600000`.execute(db.root);
  await advanceTime(WINDOW_MS + LEASE_MS);
  assert.equal(await acquireMany(limiter, key, LIMIT), LIMIT);
  await sql`update test_clock set ms = ms + 3600000`.execute(db.root);
});

test("unused keys are removed from memory and table", async () => {
  const log = createProcessLimiter("full", { keysMax: 50 });
  await sql`delete from rate_log`.execute(db.root);
  const [first, ...others] = Array.from({ length: 200 }, newKey);
  assert.ok(first);
  await log.tryAcquire(first, LIMIT);
  for (const key of others) await log.tryAcquire(key, LIMIT);
  assert.equal(await log.releaseUnused("all", 1_000), 50, "the limiter keeps more keys than its maximum");
  statementCount = 0;
  assert.equal((await log.tryAcquire(first, LIMIT)).remaining < LIMIT - 1, true);
  assert.equal(statementCount, 1, "the key was still in memory");
  const rows = async () => (await db.root.selectFrom("rate_log").select("key").execute()).length;
  assert.deepEqual([await purgeExpiredKeys(db, serverMs, 1_000), await rows()], [0, 200]);
  await advanceTime(WINDOW_MS + LEASE_MS + 1);
  assert.deepEqual([await purgeExpiredKeys(db, serverMs, 150), await rows()], [150, 50]);
  assert.deepEqual([await purgeExpiredKeys(db, serverMs, 150), await rows()], [50, 0]);
});

test("a database failure rejects the call, and the limit holds after the failure", async () => {
  const key = newKey();
  let isAway = false;
  const flaky: Db = {
    ...db,
    get root() {
      if (isAway) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      return db.root;
    },
  };
  const world = { db: flaky, clock: { monotonicMs: () => passedMs } };
  const log = createSharedRateLimiter(world, { holder: "unlucky", prefix: "test ", nowMs: serverMs });
  let made = await acquireMany(log, key, 3);
  isAway = true;
  const results = await Promise.allSettled(Array.from({ length: LIMIT }, () => log.tryAcquire(key, LIMIT)));
  made += results.filter(({ status }) => status === "fulfilled").length;
  assert.ok(made > 3 && made < LIMIT, `${made} before and during the failure`);
  isAway = false;
  made += await acquireMany(log, key, LIMIT * 2);
  assert.ok(made >= LIMIT / 2 && made <= LIMIT, `${made} in all`);
});
