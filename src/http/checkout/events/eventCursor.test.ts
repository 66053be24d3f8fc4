import assert from "node:assert/strict";
import { test } from "node:test";
import { EventCursor } from "./eventCursor.ts";

function startAt(newest: bigint): EventCursor {
  const cursor = new EventCursor();
  cursor.advance([], newest);
  return cursor;
}

test("the first read begins at the newest position", () => {
  const cursor = new EventCursor();
  assert.equal(cursor.last, undefined);
  cursor.advance([], 7n);
  assert.deepEqual([cursor.last, cursor.missing()], [7n, []]);
  cursor.reset();
  assert.equal(cursor.last, undefined);
});

test("positions that were skipped are asked for until they appear", () => {
  const cursor = startAt(7n);
  cursor.advance([12n, 9n], 0n);
  assert.deepEqual([cursor.last, cursor.missing()], [12n, [8n, 10n, 11n]]);
  cursor.advance([10n], 0n);
  assert.deepEqual([cursor.last, cursor.missing()], [12n, [8n, 11n]]);
});

test("a position that never appears is forgotten, and a large gap stays bounded", () => {
  const cursor = startAt(0n);
  cursor.advance([2n], 0n);
  for (let round = 0; round < 101; round += 1) cursor.advance([], 0n);
  assert.deepEqual(cursor.missing(), []);
  cursor.advance([1_000_000n], 0n);
  assert.deepEqual([cursor.last, cursor.missing().length], [1_000_000n, 1_000]);
});
