import assert from "node:assert/strict";
import { test } from "node:test";
import { createLightRateLimiter } from "./lightRateLimiter.ts";
import { createLocalRateLimiter } from "./localRateLimiter.ts";
import { WINDOW_MS, type RateLimiter } from "./rateLimiter.ts";

const LIMIT = 30;
const FREE = 3;

/** Processes with one clock, over a shared limiter that counts exactly. */
function openProcesses(count: number, keysMax?: number) {
  let nowMs = 5;
  const clock = { monotonicMs: () => nowMs };
  const exact = createLocalRateLimiter(clock);
  let sharedCalls = 0;
  const shared: RateLimiter = {
    tryAcquire(key, limit) {
      sharedCalls += 1;
      return exact.tryAcquire(key, limit);
    },
  };
  const processes = Array.from({ length: count }, () => createLightRateLimiter(clock, shared, keysMax));
  const acquire = async (process: number, calls: number, key = "key") => {
    const limiter = processes[process];
    assert.ok(limiter);
    const results = await Promise.all(Array.from({ length: calls }, () => limiter.tryAcquire(key, LIMIT)));
    return results.filter(({ isAllowed }) => isAllowed).length;
  };
  return { acquire, sharedCalls: () => sharedCalls, advanceTime: (durationMs: number) => (nowMs += durationMs) };
}

test("the first tenth of a limit asks no other process, and the call above it reports that tenth", async () => {
  const { acquire, sharedCalls } = openProcesses(1);
  assert.deepEqual([await acquire(0, FREE), sharedCalls()], [FREE, 0]);
  assert.deepEqual([await acquire(0, 1), sharedCalls()], [1, FREE + 1]);
  assert.deepEqual([await acquire(0, LIMIT), sharedCalls()], [LIMIT - FREE - 1, FREE + 1 + LIMIT]);
});

test("D38 processes that all have reported admit exactly the limit together, also for concurrent calls", async () => {
  const { acquire } = openProcesses(3);
  let admitted = 0;
  for (let round = 0; round < 4; round += 1)
    admitted += (await Promise.all([acquire(0, FREE), acquire(1, FREE), acquire(2, FREE)])).reduce((a, b) => a + b);
  assert.equal(admitted, LIMIT);
  for (const process of [0, 1, 2]) assert.equal(await acquire(process, 5), 0);
});

test("a process that has reported nothing admits a tenth at most, when others have used up the limit", async () => {
  const { acquire } = openProcesses(2);
  assert.equal(await acquire(0, LIMIT + 5), LIMIT);
  assert.equal(await acquire(1, LIMIT), FREE);
});

test("after a minute without a call a key is free again, and one that goes on stays shared", async () => {
  const { acquire, sharedCalls, advanceTime } = openProcesses(1);
  await acquire(0, FREE + 1);
  advanceTime(WINDOW_MS - 1);
  const before = sharedCalls();
  await acquire(0, 1);
  assert.equal(sharedCalls(), before + 1);
  advanceTime(WINDOW_MS);
  await acquire(0, FREE);
  assert.equal(sharedCalls(), before + 1);
});

test("a report that fails refuses its calls alone, and the next call counts again", async () => {
  const clock = { monotonicMs: () => 5 };
  let isAvailable = false;
  const exact = createLocalRateLimiter(clock);
  const tryAcquire = async (key: string, limit: number) => {
    if (!isAvailable) throw new Error("no database");
    return exact.tryAcquire(key, limit);
  };
  const limiter = createLightRateLimiter(clock, { tryAcquire });
  for (let call = 0; call < FREE; call += 1) assert.equal((await limiter.tryAcquire("key", LIMIT)).isAllowed, true);
  await assert.rejects(limiter.tryAcquire("key", LIMIT), /no database/);
  isAvailable = true;
  assert.equal((await limiter.tryAcquire("key", LIMIT)).isAllowed, true);
});

test("a flood of keys stays bounded in memory, and a key in use is not forgotten", async () => {
  const { acquire, sharedCalls } = openProcesses(1, 10);
  for (let index = 0; index < 100; index += 1) {
    await acquire(0, 1, `key ${index}`);
    await acquire(0, 1, "busy");
  }
  assert.ok(sharedCalls() > 90, `${sharedCalls()} calls of the busy key were shared`);
  const before = sharedCalls();
  await acquire(0, FREE, "key 0");
  assert.equal(sharedCalls(), before, "the first key was still in memory");
});
