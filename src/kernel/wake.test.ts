import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "./clock.ts";
import { createWake } from "./wake.ts";

const never = new AbortController().signal;

/** A clock on which time passes only when the test calls `pass`. */
function createManualClock(): Clock & { pass(): void; sleeping(): number } {
  const sleepers = new Set<() => void>();
  return {
    now: () => new Date(0),
    monotonicMs: () => 0,
    sleep: (_durationMs, signal) =>
      new Promise((resolve) => {
        const done = () => {
          sleepers.delete(done);
          resolve();
        };
        sleepers.add(done);
        signal?.addEventListener("abort", done, { once: true });
      }),
    pass: () => sleepers.forEach((done) => done()),
    sleeping: () => sleepers.size,
  };
}

test("a notification between two waits is kept, and counts once", async () => {
  const clock = createManualClock();
  const wake = createWake(clock);
  wake.notify("deposit");
  wake.notify("deposit");
  await wake.wait("deposit", { timeoutMs: 1, signal: never });
  assert.equal(clock.sleeping(), 0);

  const second = wake.wait("deposit", { timeoutMs: 1, signal: never });
  assert.equal(clock.sleeping(), 1);
  clock.pass();
  await second;
});

test("a notification wakes every waiter of its topic, and no other", async () => {
  const clock = createManualClock();
  const wake = createWake(clock);
  const same = [1, 2].map(() => wake.wait("deposit", { timeoutMs: 1, signal: never }));
  const other = wake.wait("settlement", { timeoutMs: 1, signal: never });
  wake.notify("deposit");
  await Promise.all(same);
  assert.equal(clock.sleeping(), 1);
  clock.pass();
  await other;
});

test("a notification after a timed-out wait is kept for the next wait", async () => {
  const clock = createManualClock();
  const wake = createWake(clock);
  const first = wake.wait("deposit", { timeoutMs: 1, signal: never });
  clock.pass();
  await first;
  wake.notify("deposit");
  await wake.wait("deposit", { timeoutMs: 1, signal: never });
  assert.equal(clock.sleeping(), 0);
});

test("an abort ends a wait, and a wait that starts after it returns at once", async () => {
  const clock = createManualClock();
  const wake = createWake(clock);
  const stop = new AbortController();
  const waiting = wake.wait("deposit", { timeoutMs: 1, signal: stop.signal });
  stop.abort();
  await waiting;
  await wake.wait("deposit", { timeoutMs: 1, signal: stop.signal });
  assert.equal(clock.sleeping(), 0);
});
