import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { systemTimer } from "../clock.ts";
import { warnRepeated } from "./repeatedWarning.ts";

test("a warning that repeats is logged at intervals that double, with the number of repeats", () => {
  const lines: { atMs: number; repeats?: number }[] = [];
  let nowMs = 0;
  const log = pino({}, { write: (line: string) => void lines.push({ ...JSON.parse(line), atMs: nowMs }) });
  const clock = { ...systemTimer, monotonicMs: () => nowMs };
  const warn = (key: string) => warnRepeated({ log, clock }, { key, fields: {}, message: "it failed" });
  for (; nowMs < 10 * 60_000; nowMs += 1_000) warn("one");
  assert.deepEqual(
    lines.map(({ atMs, repeats }) => [atMs / 60_000, repeats]),
    [
      [0, undefined],
      [1, 59],
      [3, 119],
      [7, 239],
    ],
  );
  warn("other");
  assert.equal(lines.at(-1)?.atMs, nowMs, "another failure is logged at once");
  nowMs += 60 * 60_000;
  warn("one");
  nowMs += 61_000;
  warn("one");
  assert.equal(lines.length, 7, "after a long pause the intervals begin anew");
});
