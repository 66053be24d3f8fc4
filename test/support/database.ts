import { cp, mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { loadMigratedSnapshot, schemaDigest } from "../../src/db/pglite/snapshot.ts";
import { readNewState, ReusedDatabase, type NewState } from "./reusedDatabases.ts";
import {
  databaseUrl,
  postgresVersion,
  startPostgres,
  type PostgresServer,
  type PostgresServerOptions,
} from "./postgres.ts";

/** Every kind of database, for what differs between them. */
export const databases = ["pglite", "postgres"] as const;

/**
 * The database of most suites: PostgreSQL, which takes a third of the processor time, or the embedded one with
 * TEST_DATABASE=pglite, as the deep tests run them again. Both execute the same SQL, and the suites of `databases`
 * cover what differs.
 */
export const thoroughDatabase: (typeof databases)[number] =
  process.env["TEST_DATABASE"] === "pglite" ? "pglite" : "postgres";
export const thoroughDatabases = [thoroughDatabase] as const;

/** Dumps and data directories that every run shares. It can be removed at any time. */
export const cacheDirectory = fileURLToPath(new URL("../../node_modules/.cache/tributary", import.meta.url));

/** The migration time in every test database. */
const APPLIED_AT = new Date("2026-01-01T00:00:00Z");

const TEMPLATE = "tributary_template";

export type TestDatabaseOptions = { poolSizeMax?: number };

/** Opens a migrated database without rows. `close` empties or removes it. */
export async function openTestDatabase(
  kind: (typeof databases)[number],
  options: TestDatabaseOptions = {},
): Promise<Db> {
  if (kind === "pglite") return await openDatabase({ directory: "memory", snapshot: await snapshot() });
  const database = unusedDatabases.pop() ?? new ReusedDatabase(await createPostgresDatabase());
  newState ??= readNewState(database.url);
  const state = await newState;
  const db = options.poolSizeMax === undefined ? database.open() : await openOwnPool(database, options);
  return {
    ...db,
    async close() {
      await db.close();
      if (await database.restore(state)) unusedDatabases.push(database);
      else await database.drop();
    },
  };
}

function openOwnPool({ url }: ReusedDatabase, options: TestDatabaseOptions): Promise<Db> {
  return openDatabase({ url, allowUnsafeFsync: true, ...options });
}

/** Databases of closed handles, in the state of new ones. They end with the server. */
const unusedDatabases: ReusedDatabase[] = [];
let newState: Promise<NewState> | undefined;

export type PostgresDatabase = { url: string; drop: () => Promise<void> };

/**
 * Creates a database on a real PostgreSQL, for tests that open it several times or from several processes. Migrated,
 * unless "empty".
 */
export async function createPostgresDatabase(contents: "migrated" | "empty" = "migrated"): Promise<PostgresDatabase> {
  const running = await server();
  // All processes of a run share the server, so the process id is part of the name.
  const name = `test_${process.pid}_${databaseCount++}`;
  await copyDatabase(running, name, contents === "empty" ? "template1" : TEMPLATE);
  return { url: running.urlOf(name), drop: () => executeSql(running, `drop database ${name} with (force)`) };
}

/**
 * A second database with the rows of the first one, as a standby has them. Nobody may be connected to the first one.
 */
export async function copyPostgresDatabase({ url }: Pick<PostgresDatabase, "url">): Promise<PostgresDatabase> {
  const running = await server();
  const original = /\/(\w+)\?/.exec(url)?.[1] ?? "";
  const name = `${original}_copy${databaseCount++}`;
  await copyDatabase(running, name, original);
  return { url: running.urlOf(name), drop: () => executeSql(running, `drop database ${name} with (force)`) };
}

let databaseCount = 1;
let snapshotMade: Promise<Blob> | undefined;
let serverStarted: Promise<TestServer> | undefined;

function snapshot(): Promise<Blob> {
  return (snapshotMade ??= loadMigratedSnapshot({ cacheDirectory, appliedAt: APPLIED_AT }));
}

type TestServer = Pick<PostgresServer, "urlOf">;

/** Names the socket directory of the run's shared server. */
const SHARED_SERVER_VARIABLE = "TEST_POSTGRES_SOCKET_DIRECTORY";

/**
 * Starts a server for all processes of a run; it ends with this process. Returns the environment variables that locate
 * it.
 */
export async function shareTestServer(): Promise<Record<string, string>> {
  const { socketDirectory } = await startPostgres(await seedDirectory());
  return { [SHARED_SERVER_VARIABLE]: socketDirectory };
}

/** The server of the run, else one of this process. */
function server(): Promise<TestServer> {
  return (serverStarted ??= openServer());
}

async function openServer(): Promise<TestServer> {
  const socketDirectory = process.env[SHARED_SERVER_VARIABLE];
  if (socketDirectory !== undefined) return { urlOf: (database) => databaseUrl(socketDirectory, database) };
  return startPostgres(await seedDirectory());
}

/** A server of its own, for a test that reads the server's log or its processes. */
export async function startOwnServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  return startPostgres(await seedDirectory(), options);
}

/**
 * Creates a database on a server of `startOwnServer` and returns its URL. It ends with its server. Migrated, unless
 * "empty".
 */
export async function createDatabaseOn(
  running: TestServer,
  name: string,
  contents: "migrated" | "empty" = "migrated",
): Promise<string> {
  await copyDatabase(running, name, contents === "empty" ? "template1" : TEMPLATE);
  return running.urlOf(name);
}

/** Copies files, which takes a tenth of the time of PostgreSQL's default, a copy through the write-ahead log. */
function copyDatabase(running: TestServer, name: string, template: string): Promise<void> {
  return executeSql(running, `create database ${name} template ${template} strategy file_copy`);
}

async function executeSql(running: TestServer, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: running.urlOf("postgres") });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** A data directory with the migrated template. The first process with this schema creates it. */
async function seedDirectory(): Promise<string> {
  const key = createHash("sha256")
    .update(`${await postgresVersion()} ${await schemaDigest()}`)
    .digest("hex")
    .slice(0, 16);
  const seed = join(cacheDirectory, `postgres-${key}`);
  const isMade = await stat(seed).then(
    () => true,
    () => false,
  );
  if (!isMade) await createSeedDirectory(seed);
  return seed;
}

async function createSeedDirectory(seed: string): Promise<void> {
  await mkdir(cacheDirectory, { recursive: true });
  const maker = await startPostgres();
  await executeSql(maker, `create database ${TEMPLATE}`);
  const template = await openDatabase({ url: maker.urlOf(TEMPLATE), allowUnsafeFsync: true });
  await migrate(template, { appliedAt: APPLIED_AT });
  await template.close();
  await maker.stop();
  const draft = await mkdtemp(join(cacheDirectory, "draft-"));
  await cp(maker.dataDirectory, draft, { recursive: true });
  await maker.remove();
  // The first process wins the rename. The others made the same directory and delete theirs.
  await rename(draft, seed).catch(() => rm(draft, { recursive: true }));
}
