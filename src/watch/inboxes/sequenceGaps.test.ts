import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { SequenceGaps } from "./sequenceGaps.ts";

test("a skipped number is queried each time at first, then once a second, and finally never", () => {
  const gaps = new SequenceGaps();
  gaps.addGap({ after: 4, upTo: 8 }, 0);
  deepEqual(gaps.listDue(0), [5, 6, 7]);
  gaps.remove(6);
  deepEqual(gaps.listDue(4_999), [5, 7]);
  deepEqual(gaps.listDue(5_000), []);
  deepEqual(gaps.listDue(5_999), [5, 7]);
  deepEqual(gaps.listDue(6_500), []);
  gaps.remove(5);
  deepEqual(gaps.listDue(599_000), [7]);
  deepEqual(gaps.listDue(600_000), []);
  deepEqual(gaps.listDue(700_000), []);
});

test("consecutive numbers leave no gap", () => {
  const gaps = new SequenceGaps();
  for (let seq = 1; seq < 100; seq += 1) gaps.addGap({ after: seq - 1, upTo: seq }, seq);
  deepEqual(gaps.listDue(100), []);
});

test("the newest numbers are kept", () => {
  const gaps = new SequenceGaps();
  gaps.addGap({ after: 0, upTo: 1_000_000_000 }, 0);
  const due = gaps.listDue(0);
  ok(due.length <= 1_001);
  equal(due.at(-1), 999_999_999);
  for (let seq = 1; seq < 100_000; seq += 2) gaps.addGap({ after: seq + 1e9, upTo: seq + 1e9 + 2 }, 1);
  const all = gaps.listDue(1_001);
  ok(all.length <= 7_000, `${all.length} numbers`);
  equal(all.at(-1), 1e9 + 100_000);
});
