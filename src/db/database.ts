import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Dialect,
  type Driver,
  type QueryResult,
  type Transaction,
} from "kysely";
import { isBatchable } from "./driver.ts";
import { classifyError } from "../kernel/errors/classifyError.ts";
import { TransactionGuard } from "./transactionGuard.ts";
import { EmbeddedDriver, EmbeddedServer, type PgliteOptions } from "./pglite/pglite.ts";
import { PooledDriver, type PostgresOptions, type PoolUse } from "./postgres/postgres.ts";
import { checkServer } from "./postgres/serverChecks.ts";
import type { Schema } from "./schema.ts";

/** How often a transaction is tried when the database aborts it because of concurrent ones. */
const TRANSACTION_TRIES_MAX = 5;

/** A transaction, the parameter of every use case: all its statements commit, or none. */
export type Tx = Transaction<Schema>;

export type Db = {
  readonly kind: "postgres" | "pglite";
  /** Absent where there is no pool. */
  readonly poolUse?: () => PoolUse;
  /** For single statements outside a transaction. Inside one (by async context) it throws. */
  readonly root: Kysely<Schema>;
  /**
   * Runs `run` in a transaction (read committed), commits, and returns its result; a throw rolls back. After a deadlock
   * or a serialization failure `run` is called again, up to five times in all, so it must do nothing but SQL.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/**
 * Opens PostgreSQL (by `url`) or the embedded PGlite (by `directory`, or "memory"). Throws DatabaseUnusable when the
 * server does not meet the requirements, and DirectoryInUse when another process uses the directory. PGlite never calls
 * fsync: the caller decides whether that is acceptable.
 */
export async function openDatabase(options: PostgresOptions | PgliteOptions): Promise<Db> {
  return "url" in options ? await openPostgres(options) : createEmbeddedDatabase(await EmbeddedServer.start(options));
}

async function openPostgres(options: PostgresOptions): Promise<Db> {
  const guard = new TransactionGuard();
  const driver = new PooledDriver(options, guard);
  try {
    const session = await driver.acquire();
    try {
      await checkServer(session, options);
      if (options.refusesSharedSessions === true) await driver.refuseSharedSessions(session);
    } finally {
      await driver.releaseConnection(session);
    }
  } catch (error) {
    await driver.destroy();
    throw error;
  }
  return createPooledDatabase(driver, guard);
}

/**
 * The handle of a server whose sessions come from `driver`, which works under the same guard. Closing the handle closes
 * them.
 */
export function createPooledDatabase(driver: PooledDriver, guard: TransactionGuard): Db {
  const root = new BatchingKysely(driver);
  return {
    kind: "postgres",
    poolUse: () => driver.use,
    ...createStatementMethods(root, guard),
    async close() {
      await root.destroy();
      await driver.destroy();
    },
  };
}

/**
 * Creates a handle on a running embedded database. Closing the handle stops the database. `createDriver` replaces the
 * driver between the handle and the server.
 */
export function createEmbeddedDatabase(
  server: EmbeddedServer,
  createDriver: (guard: TransactionGuard) => Driver = (guard) => new EmbeddedDriver(server, guard),
): Db {
  const guard = new TransactionGuard();
  const root = createKysely(createDriver(guard));
  return {
    kind: "pglite",
    ...createStatementMethods(root, guard),
    async close() {
      await root.destroy();
      await server.close();
    },
  };
}

function createKysely(driver: Driver): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: createDialect(driver) });
}

function createDialect(driver: Driver): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** Of the statements that are handed in as texts, those that may share their way do. */
class BatchingKysely extends Kysely<Schema> {
  readonly #driver: PooledDriver;

  constructor(driver: PooledDriver) {
    super({ dialect: createDialect(driver) });
    this.#driver = driver;
  }

  override executeQuery<R>(...asked: Parameters<Kysely<Schema>["executeQuery"]>): Promise<QueryResult<R>> {
    const [query] = asked;
    if (asked.length === 1 && "sql" in query && isBatchable(query.sql)) return this.#driver.runBatched<R>(query);
    return super.executeQuery(...asked) as Promise<QueryResult<R>>;
  }
}

function createStatementMethods(root: Kysely<Schema>, guard: TransactionGuard): Pick<Db, "root" | "transaction"> {
  return {
    root,
    async transaction(run) {
      for (let tries = 1; ; tries++) {
        try {
          return await root
            .transaction()
            .setIsolationLevel("read committed")
            .execute((tx) => guard.runInside(() => run(tx)));
        } catch (error) {
          if (tries >= TRANSACTION_TRIES_MAX || classifyError(error) !== "conflict") throw error;
        }
      }
    },
  };
}
