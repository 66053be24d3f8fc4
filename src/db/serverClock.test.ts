import assert from "node:assert/strict";
import { afterEach, describe, mock, test } from "node:test";
import { sql } from "kysely";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { addMs, hasElapsed } from "../kernel/clock.ts";
import { isDue } from "./due.ts";
import { openServerClock, ServerClock } from "./serverClock.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 1, 12);

/** A source and a monotonic timer that the test moves. Each reading takes `roundTripMs`, and fails while `isDown`. */
function createSource() {
  const source = { serverMs: START_MS, monotonicMs: 5_000, roundTripMs: 0, isDown: false, readings: 0 };
  const advance = (durationMs: number) => {
    source.serverMs += durationMs;
    source.monotonicMs += durationMs;
  };
  const read = async () => {
    source.readings += 1;
    if (source.isDown) throw new Error("the database does not answer");
    advance(source.roundTripMs / 2);
    const answer = source.serverMs;
    advance(source.roundTripMs / 2);
    return answer;
  };
  const timer = { monotonicMs: () => source.monotonicMs, sleep: async () => {} };
  return { source, advance, open: () => ServerClock.open(read, timer) };
}

/** How far the clock is from its source, in milliseconds. */
const errorMs = (clock: ServerClock, { serverMs }: { serverMs: number }) => clock.now().getTime() - serverMs;

describe("the database's clock", () => {
  test("it corrects a sample by half its round trip, and counts on without a query", async () => {
    const { source, advance, open } = createSource();
    source.roundTripMs = 400;
    const clock = await open();
    const { readings } = source;
    for (let hour = 0; hour < 24; hour += 1) {
      advance(HOUR_MS);
      assert.ok(Math.abs(errorMs(clock, source)) <= 1, `${errorMs(clock, source)} ms`);
    }
    assert.equal(source.readings, readings);
  });

  test("a refresh follows a step of the source in both directions, and a failed one keeps the time", async () => {
    const { source, advance, open } = createSource();
    const clock = await open();
    for (const stepMs of [-HOUR_MS, 2 * HOUR_MS, -30_000]) {
      source.serverMs += stepMs;
      source.isDown = true;
      await assert.rejects(clock.refresh(), /does not answer/);
      advance(1_000);
      assert.ok(Math.abs(errorMs(clock, source) + stepMs) <= 1);
      source.isDown = false;
      await clock.refresh();
      assert.ok(Math.abs(errorMs(clock, source)) <= 1, `${errorMs(clock, source)} ms after ${stepMs}`);
    }
  });

  test("a slow answer that allows the present time changes nothing", async () => {
    const { source, open } = createSource();
    const clock = await open();
    source.roundTripMs = 10_000;
    source.serverMs += 3_000;
    await clock.refresh();
    assert.ok(Math.abs(errorMs(clock, source) + 3_000) <= 1);
  });

  test("a small correction backward stops the time until it is reached", async () => {
    const { source, advance, open } = createSource();
    const clock = await open();
    const before = clock.now();
    source.serverMs -= 500;
    await clock.refresh();
    assert.deepEqual(clock.now(), before);
    advance(499);
    assert.deepEqual(clock.now(), before);
    advance(101);
    assert.ok(clock.now() > before);
  });
});

for (const kind of thoroughDatabases) {
  test(`it shows the time of ${kind}`, async () => {
    const db = await openTestDatabase(kind);
    const clock = await openServerClock(db);
    const readMs = async () =>
      Number(
        (
          await sql<{ ms: bigint }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(
            db.root,
          )
        ).rows[0]?.ms,
      );
    const before = await readMs();
    const shown = clock.now().getTime();
    const after = await readMs();
    assert.ok(shown >= before - 50 && shown <= after + 50, `${before} ${shown} ${after}`);
    await db.close();
  });

  test(`what is due on ${kind}: the past, and what lies beyond the longest wait`, async () => {
    const db = await openTestDatabase(kind);
    const now = new Date(START_MS);
    const at = (ms: number) => addMs(now, ms);
    const cases: [ms: number, expected: boolean][] = [
      [-HOUR_MS, true],
      [0, true],
      [1, false],
      [120_000 + 60_000, false],
      [120_000 + 60_001, true],
      [HOUR_MS, true],
    ];
    for (const [ms, expected] of cases) {
      const { rows } = await sql<{ due: boolean }>`
        select ${isDue("due_at", { now, waitMsMax: 120_000 })} as due from (select ${at(ms)}::timestamptz as due_at) as row`.execute(
        db.root,
      );
      assert.equal(rows[0]?.due, expected, `${ms} ms`);
    }
    await db.close();
  });
}

test("a wait is over after its time, and when its start lies in the future", () => {
  const now = new Date(START_MS);
  const cases: [sinceMs: number, expected: boolean][] = [
    [-10_000, true],
    [-9_999, false],
    [60_000, false],
    [60_001, true],
  ];
  for (const [ms, expected] of cases)
    assert.equal(hasElapsed(10_000, { since: addMs(now, ms), now }), expected, `${ms} ms`);
});

describe("a step of the machine's clock", () => {
  afterEach(() => mock.timers.reset());

  test("changes nothing, in either direction", async () => {
    const db = await openTestDatabase("postgres");
    const clock = await openServerClock(db);
    const startedAt = clock.now();
    for (const stepMs of [-HOUR_MS, HOUR_MS]) {
      mock.timers.enable({ apis: ["Date"], now: startedAt.getTime() + stepMs });
      await clock.refresh();
      const passedMs = clock.now().getTime() - startedAt.getTime();
      assert.ok(passedMs >= 0 && passedMs < 60_000, `${passedMs} ms`);
      mock.timers.reset();
    }
    await db.close();
  });
});
