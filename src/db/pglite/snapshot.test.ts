import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openDatabase } from "../database.ts";
import { pendingMigrations } from "../migrate.ts";
import { loadMigratedSnapshot, schemaDigest } from "./snapshot.ts";

test("concurrent calls create a snapshot once, and replace that of an older schema", async () => {
  const cacheDirectory = mkdtempSync(join(tmpdir(), "tributary-snapshot-"));
  after(() => rmSync(cacheDirectory, { recursive: true, force: true }));
  writeFileSync(join(cacheDirectory, "pglite-0123456789abcdef.tar"), "of an older schema");
  const options = { cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") };

  const [snapshot] = await Promise.all([loadMigratedSnapshot(options), loadMigratedSnapshot(options)]);
  assert.deepEqual(readdirSync(cacheDirectory), [`pglite-${await schemaDigest()}.tar`]);

  for (const source of [snapshot, await loadMigratedSnapshot(options)]) {
    const db = await openDatabase({ directory: "memory", snapshot: source });
    assert.deepEqual(await pendingMigrations(db), []);
    await db.close();
  }
});
