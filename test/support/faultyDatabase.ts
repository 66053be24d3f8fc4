import type { DatabaseConnection, Driver, TransactionSettings } from "kysely";
import { createEmbeddedDatabase, type Db } from "../../src/db/database.ts";
import { EmbeddedDriver, EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { loadMigratedSnapshot } from "../../src/db/pglite/snapshot.ts";
import { cacheDirectory } from "./database.ts";

/** An embedded database that fails at a chosen statement, also inside a transaction or at its commit. */
export type FaultyDatabase = {
  db: Db;
  /** The next `statements` statements succeed. Each later one fails with `error`. */
  failAfter(statements: number, error: Error): void;
  heal(): void;
};

/** Opens a migrated database. The caller closes its `db`. */
export async function openFaultyDatabase(): Promise<FaultyDatabase> {
  let failure: { statementsLeft: number; error: Error } | undefined;
  const db = await openObservedDatabase(() => {
    if (failure === undefined) return;
    if (failure.statementsLeft <= 0) throw failure.error;
    failure.statementsLeft -= 1;
  });
  return {
    db,
    failAfter(statementsLeft, error) {
      failure = { statementsLeft, error };
    },
    heal() {
      failure = undefined;
    },
  };
}

/**
 * Opens a migrated embedded database that calls `onStatement` before each statement, begin and commit. The caller
 * closes it.
 */
export async function openObservedDatabase(onStatement: (sql: string) => void): Promise<Db> {
  const snapshot = await loadMigratedSnapshot({ cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") });
  const server = await EmbeddedServer.start({ directory: "memory", snapshot });
  return createEmbeddedDatabase(server, (guard) => observedDriver(new EmbeddedDriver(server, guard), onStatement));
}

/**
 * A rollback always succeeds and is not reported, because the server rolls back by itself when a client disconnects.
 */
function observedDriver(driver: EmbeddedDriver, use: (sql: string) => void): Driver {
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const innerOf = (connection: DatabaseConnection) => inner.get(connection) ?? connection;
  return {
    init: () => driver.init(),
    destroy: () => driver.destroy(),
    async acquireConnection() {
      const connection = await driver.acquireConnection();
      const watched: DatabaseConnection = {
        async executeQuery(query) {
          use(query.sql);
          return connection.executeQuery(query);
        },
        streamQuery: () => {
          throw new Error("streaming is not supported");
        },
      };
      inner.set(watched, connection);
      return watched;
    },
    async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings) {
      use("begin");
      await driver.beginTransaction(innerOf(connection), settings);
    },
    async commitTransaction(connection: DatabaseConnection) {
      use("commit");
      await driver.commitTransaction(innerOf(connection));
    },
    rollbackTransaction: (connection: DatabaseConnection) => driver.rollbackTransaction(innerOf(connection)),
    releaseConnection: (connection: DatabaseConnection) => driver.releaseConnection(innerOf(connection)),
  };
}
