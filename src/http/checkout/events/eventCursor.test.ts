import assert from "node:assert/strict";
import { test } from "node:test";
import { EventCursor } from "./eventCursor.ts";

const event = (position: bigint) => ({ position, eventId: `evt_${position}` });

function startAt(newest: bigint): EventCursor {
  const cursor = new EventCursor();
  cursor.advance([], event(newest));
  return cursor;
}

test("the first read begins at the newest position", () => {
  const cursor = new EventCursor();
  assert.equal(cursor.last, undefined);
  cursor.advance([], event(7n));
  assert.deepEqual([cursor.last, cursor.lastId, cursor.missing()], [7n, "evt_7", []]);
  cursor.reset();
  assert.equal(cursor.last, undefined);
});

test("positions that were skipped are asked for until they appear", () => {
  const cursor = startAt(7n);
  cursor.advance([event(12n), event(9n)], event(0n));
  assert.deepEqual([cursor.last, cursor.missing()], [12n, [8n, 10n, 11n]]);
  cursor.advance([event(10n)], event(0n));
  assert.deepEqual([cursor.last, cursor.lastId, cursor.missing()], [12n, "evt_12", [8n, 11n]]);
});

test("a position that never appears is forgotten, and a large gap stays bounded", () => {
  const cursor = startAt(0n);
  cursor.advance([event(2n)], event(0n));
  for (let round = 0; round < 101; round += 1) cursor.advance([], event(0n));
  assert.deepEqual(cursor.missing(), []);
  cursor.advance([event(1_000_000n)], event(0n));
  assert.deepEqual([cursor.last, cursor.missing().length], [1_000_000n, 1_000]);
});
