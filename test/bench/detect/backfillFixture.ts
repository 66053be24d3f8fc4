import { fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openDatabase } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { startPostgres } from "../../support/postgres.ts";
import type { BackfillJob, BackfillReport } from "./backfillWorker.ts";
import { insertInboxes } from "./inboxes.ts";

export type DatabaseKind = "postgres" | "pglite";

/**
 * Shared by all sides: a PostgreSQL with fsync, and the service's database with 100,000 inboxes on PostgreSQL and
 * PGlite.
 */
export type BackfillFixture = {
  /** One run of the service's watcher in its own process. */
  run(kind: DatabaseKind, overrides: Omit<BackfillJob, "database" | "databaseId">): Promise<BackfillReport>;
  /** Creates a database for another indexer; returns its URL. */
  newDatabase: (name: string) => Promise<string>;
  /** A temporary folder, removed on close. */
  scratch: string;
  close(): Promise<void>;
};

export async function openBackfillFixture(): Promise<BackfillFixture> {
  const scratch = await mkdtemp(join(tmpdir(), "tributary-bench-"));
  const server = await startPostgres(undefined, { isDurable: true });
  const [url, directory] = [server.urlOf("postgres"), join(scratch, "pglite")];
  for (const location of [{ url }, { directory }]) {
    const db = await openDatabase(location);
    await migrate(db, { appliedAt: new Date("2026-01-01T00:00:00Z") });
    await insertInboxes(db);
    await db.close();
  }
  const copy = `${directory}-copy`;
  return {
    scratch,
    async run(kind, overrides) {
      // Writes the previous run's pages before the next run.
      await executeSql(url, "checkpoint");
      if (kind === "postgres")
        return await runBackfillWorker({ database: { url }, databaseId: server.processId, ...overrides });
      await rm(copy, { recursive: true, force: true });
      await cp(directory, copy, { recursive: true });
      return await runBackfillWorker({ database: { directory: copy }, ...overrides });
    },
    async newDatabase(name) {
      await executeSql(url, `create database ${name}`);
      return server.urlOf(name);
    },
    async close() {
      await server.remove();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

async function executeSql(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

async function runBackfillWorker(job: BackfillJob): Promise<BackfillReport> {
  const worker = fork(new URL("backfillWorker.ts", import.meta.url), { execArgv: ["--no-warnings"] });
  const ended = once(worker, "exit").then(([code]) => {
    throw new Error(`a run ended with ${code}`);
  });
  worker.send(job);
  const [report] = (await Promise.race([once(worker, "message"), ended])) as [BackfillReport];
  await ended.catch(() => undefined);
  return report;
}
