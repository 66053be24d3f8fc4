import assert from "node:assert/strict";
import { test } from "node:test";
import { afterTransaction } from "./primedAccount.ts";

const now = new Date("2026-11-23T12:00:00Z");

test("an expired creation is planned again, and a reverted one is not", () => {
  assert.equal(afterTransaction("submitted", "mined", now).status, "open");
  assert.equal(afterTransaction("submitted", "lost", now).status, "planned");
  const reverted = afterTransaction("submitted", "reverted", now);
  assert.deepEqual([reverted.status, reverted.closed_at], ["closed", now]);
});
