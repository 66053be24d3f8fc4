import { createEmbeddedDatabase, createPooledDatabase, type Db } from "../../src/db/database.ts";
import type { StatementResult } from "../../src/db/driver.ts";
import { TransactionGuard } from "../../src/db/transactionGuard.ts";
import { EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { PooledDriver, type PostgresOptions } from "../../src/db/postgres/postgres.ts";
import { cacheDirectory, createPostgresDatabase, type databases } from "../support/database.ts";
import { loadMigratedSnapshot } from "../../src/db/pglite/snapshot.ts";
import type { CrashInjector } from "./crashInjector.ts";

// The real handles over the real databases. A crash injector runs before every statement, begin, commit and rollback.

export type CrashDatabase = {
  /** Opens the database for a process whose crash the injector decides. */
  open: (injector: CrashInjector) => Promise<CrashDatabaseHandle>;
  close: () => Promise<void>;
};

export type CrashDatabaseHandle = {
  db: Db;
  /** Cleans up after a process as the operating system does: closes its connections and rolls back its transactions. */
  close: () => Promise<void>;
};

export async function openCrashDatabase(kind: (typeof databases)[number]): Promise<CrashDatabase> {
  return kind === "pglite" ? openEmbeddedCrashDatabase() : openServerCrashDatabase();
}

async function openEmbeddedCrashDatabase(): Promise<CrashDatabase> {
  const snapshot = await loadMigratedSnapshot({ cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") });
  const server = await EmbeddedServer.start({ directory: "memory", snapshot });
  return {
    open: async (injector) => ({
      db: createEmbeddedDatabase(new CrashableServer(server, injector)),
      // The database is in the process. Rolling back uncommitted work equals a restart on its directory.
      close: async () => void (await server.runStatement("rollback", [])),
    }),
    close: () => server.close(),
  };
}

async function openServerCrashDatabase(): Promise<CrashDatabase> {
  const { url, drop: close } = await createPostgresDatabase();
  const options: PostgresOptions = { url, allowUnsafeFsync: true, poolSizeMax: 4 };
  return {
    open: async (injector) => {
      const guard = new TransactionGuard();
      const db = createPooledDatabase(new CrashableDriver(options, { guard, injector }), guard);
      return { db, close: () => db.close() };
    },
    close,
  };
}

class CrashableServer extends EmbeddedServer {
  readonly #session: SessionStatements;

  constructor(server: EmbeddedServer, injector: CrashInjector) {
    super(server.pglite, undefined);
    this.#session = new SessionStatements(injector);
  }

  override runStatement(text: string, values: (string | null)[]): Promise<StatementResult> {
    return this.#session.runStatement(text, () => super.runStatement(text, values));
  }
}

class CrashableDriver extends PooledDriver {
  readonly #injector: CrashInjector;

  constructor(options: PostgresOptions, { guard, injector }: { guard: TransactionGuard; injector: CrashInjector }) {
    super(options, guard);
    this.#injector = injector;
  }

  override async acquire(): ReturnType<PooledDriver["acquire"]> {
    this.#injector.assertAlive();
    const session = await super.acquire();
    const statements = new SessionStatements(this.#injector);
    const runInner = session.runStatement.bind(session);
    session.runStatement = (text, parameters) => statements.runStatement(text, () => runInner(text, parameters));
    return session;
  }
}

/** The statements of one session. Inside a transaction, only the commit has an effect. */
class SessionStatements {
  readonly #injector: CrashInjector;
  #isInTransaction = false;

  constructor(injector: CrashInjector) {
    this.#injector = injector;
  }

  async runStatement(text: string, run: () => Promise<StatementResult>): Promise<StatementResult> {
    const name = text.replace(/\s+/g, " ").trim().slice(0, 80);
    const isInTransaction = this.#isInTransaction;
    if (name.startsWith("start transaction")) this.#isInTransaction = true;
    if (name === "commit" || name === "rollback") this.#isInTransaction = false;
    const isWriting = /^(?:insert|update|delete|with)\b/.test(name) && !this.#isInTransaction;
    return this.#injector.runStep(
      { name: `"${name}"`, isEffect: isWriting || name === "commit", isInTransaction },
      run,
    );
  }
}
