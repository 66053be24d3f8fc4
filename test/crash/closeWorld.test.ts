import assert from "node:assert/strict";
import { test } from "node:test";
import { closeWorld } from "../../src/main.ts";
import { openTestDatabase } from "../support/database.ts";

test("a gate or bridge that fails to close does not keep the database open", async () => {
  const db = await openTestDatabase("pglite");
  const failing = (name: string) => ({ close: () => Promise.reject(new Error(`${name} stays open`)) });
  const world = { db, gate: failing("gate"), bridge: failing("bridge") };
  await assert.rejects(closeWorld(world as unknown as Parameters<typeof closeWorld>[0]), SuppressedError);
  await assert.rejects(db.root.selectFrom("intent").selectAll().execute(), "the database is closed");
});
