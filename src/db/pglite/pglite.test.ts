import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import { cacheDirectory } from "../../../test/support/database.ts";
import { openDatabase, type Db } from "../database.ts";
import { DatabaseCrashed } from "../errors.ts";
import { DirectoryInUse } from "./directoryLock.ts";
import { pendingMigrations } from "../migrate.ts";
import { loadMigratedSnapshot } from "./snapshot.ts";
import { onlyDeep } from "../../../test/support/runNumber.ts";

/** Far above what a crash takes, and below any time-out of a call that hangs. */
const WAIT_MS_MAX = 20_000;

const snapshot = await loadMigratedSnapshot({ cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") });

// The driver does not inspect texts, so this deep JSON reaches the engine and crashes it on purpose.
const breakEngine = (db: Pick<Db, "root">) => sql`select ${"[".repeat(100_000)}::jsonb`.execute(db.root);

/** A program that commits increasing numbers into `directory` and prints each one after its commit. */
const writerOf = (directory: string) => `
  import { writeSync } from "node:fs";
  import { sql } from ${JSON.stringify(import.meta.resolve("kysely"))};
  import { openDatabase } from ${JSON.stringify(new URL("../database.ts", import.meta.url).href)};
  const db = await openDatabase({ directory: ${JSON.stringify(directory)} });
  await sql\`create table mark (number int)\`.execute(db.root);
  for (let number = 1; number < 100_000; number++) {
    await db.transaction((tx) => sql\`insert into mark values (\${number})\`.execute(tx));
    writeSync(1, number + "\\n");
  }
`;

describe("an embedded database", () => {
  test("that crashes reports it at once and rejects every later call", async () => {
    const aborts: DatabaseCrashed[] = [];
    const db = await openDatabase({ directory: "memory", snapshot, onAbort: (error) => aborts.push(error) });
    const startedMs = performance.now();
    await assert.rejects(breakEngine(db), DatabaseCrashed);
    assert.ok(performance.now() - startedMs < WAIT_MS_MAX);
    await assert.rejects(sql`select 1`.execute(db.root), DatabaseCrashed);
    await assert.rejects(
      db.transaction(async () => 1),
      DatabaseCrashed,
    );
    await db.close();
    assert.equal(aborts.length, 1);
  });

  test(
    "that crashes inside a transaction rejects the transaction and the waiting calls",
    { skip: onlyDeep },
    async () => {
      const db = await openDatabase({ directory: "memory", snapshot });
      const broken = db.transaction((tx) => breakEngine({ root: tx }));
      const waiting = sql`select 1`.execute(db.root);
      await assert.rejects(broken, DatabaseCrashed);
      await assert.rejects(waiting, DatabaseCrashed);
      await db.close();
    },
  );

  test("in a directory keeps committed rows, and locks other processes out", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tributary-pglite-"));
    after(() => rmSync(directory, { recursive: true, force: true }));
    const first = await openDatabase({ directory, snapshot });
    assert.deepEqual(await pendingMigrations(first), []);
    await sql`create table mark (name text)`.execute(first.root);
    await first.transaction((tx) => sql`insert into mark values ('kept')`.execute(tx));
    await assert.rejects(openDatabase({ directory, snapshot }), DirectoryInUse);
    await first.close();

    const second = await openDatabase({ directory, snapshot });
    assert.deepEqual((await sql`select name from mark`.execute(second.root)).rows, [{ name: "kept" }]);
    await second.close();
  });

  test("keeps every committed row when its process is killed", { skip: onlyDeep }, async () => {
    const directory = mkdtempSync(join(tmpdir(), "tributary-pglite-"));
    after(() => rmSync(directory, { recursive: true, force: true }));
    const writer = spawn(process.execPath, ["--input-type=module", "-e", writerOf(directory)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    after(() => writer.kill("SIGKILL"));
    let confirmed = 0;
    for await (const line of createInterface(writer.stdout)) {
      confirmed = Number(line);
      if (confirmed === 200) writer.kill("SIGKILL");
    }

    const db = await openDatabase({ directory });
    const { rows } = await sql<{ count: bigint; last: number }>`select count(*), max(number) as last from mark`.execute(
      db.root,
    );
    const { count, last } = rows[0] ?? { count: 0n, last: 0 };
    assert.ok(last >= confirmed && confirmed >= 200, `${confirmed} confirmed, ${last} kept`);
    assert.equal(count, BigInt(last));
    await db.close();
  });

  test("serves callers in the order of their calls", async () => {
    const db = await openDatabase({ directory: "memory", snapshot });
    const order: number[] = [];
    const call = async (i: number) => {
      if (i % 3 === 0) await db.transaction((tx) => sql`select 1`.execute(tx));
      else await sql`select 1`.execute(db.root);
      order.push(i);
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => call(i)));
    assert.deepEqual(
      order,
      Array.from({ length: 50 }, (_, i) => i),
    );
    await db.close();
  });
});
