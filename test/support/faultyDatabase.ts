import type { DatabaseConnection, Driver, TransactionSettings } from "kysely";
import { databaseOver, type Db } from "../../src/db/database.ts";
import { EmbeddedDriver, EmbeddedServer } from "../../src/db/pglite.ts";
import { migratedSnapshot } from "../../src/db/snapshot.ts";
import { cacheDirectory } from "./database.ts";

/** An embedded database that gives out at a chosen statement, also in the middle of a transaction or at its end. */
export type FaultyDatabase = {
  db: Db;
  /** From now on: so many statements are answered, and each one after them fails with `error`. */
  failAfter(statements: number, error: Error): void;
  heal(): void;
};

/** Migrated; whoever opens it closes its `db`. */
export async function openFaultyDatabase(): Promise<FaultyDatabase> {
  const snapshot = await migratedSnapshot({ cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") });
  const server = await EmbeddedServer.start({ directory: "memory", snapshot });
  let failure: { statementsLeft: number; error: Error } | undefined;
  const use = () => {
    if (failure === undefined) return;
    if (failure.statementsLeft <= 0) throw failure.error;
    failure.statementsLeft -= 1;
  };
  return {
    db: databaseOver(server, (guard) => faultyDriver(new EmbeddedDriver(server, guard), use)),
    failAfter(statementsLeft, error) {
      failure = { statementsLeft, error };
    },
    heal() {
      failure = undefined;
    },
  };
}

/** Calls `use` before each statement, begin and commit. A rollback succeeds: it is what the server does when a client is gone. */
function faultyDriver(driver: EmbeddedDriver, use: () => void): Driver {
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const innerOf = (connection: DatabaseConnection) => inner.get(connection) ?? connection;
  return {
    init: () => driver.init(),
    destroy: () => driver.destroy(),
    async acquireConnection() {
      const connection = await driver.acquireConnection();
      const faulty: DatabaseConnection = {
        async executeQuery(query) {
          use();
          return connection.executeQuery(query);
        },
        streamQuery: () => {
          throw new Error("nothing is streamed");
        },
      };
      inner.set(faulty, connection);
      return faulty;
    },
    async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings) {
      use();
      await driver.beginTransaction(innerOf(connection), settings);
    },
    async commitTransaction(connection: DatabaseConnection) {
      use();
      await driver.commitTransaction(innerOf(connection));
    },
    rollbackTransaction: (connection: DatabaseConnection) => driver.rollbackTransaction(innerOf(connection)),
    releaseConnection: (connection: DatabaseConnection) => driver.releaseConnection(innerOf(connection)),
  };
}
