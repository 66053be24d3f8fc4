import { createEmbeddedDatabase, createPooledDatabase, type Db } from "../../src/db/database.ts";
import type { StatementResult } from "../../src/db/driver.ts";
import { TransactionGuard } from "../../src/db/transactionGuard.ts";
import { EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { PooledDriver, type PostgresOptions } from "../../src/db/postgres/postgres.ts";
import { cacheDirectory, createPostgresDatabase, type databases } from "../support/database.ts";
import { loadMigratedSnapshot } from "../../src/db/pglite/snapshot.ts";
import type { CrashInjector } from "./crashInjector.ts";

// The real handles over the real databases, with a fuse before every statement, and before those that open and close a transaction.

export type CrashDatabase = {
  /** The database as a process sees it whose end is the fuse's. */
  open: (fuse: CrashInjector) => Promise<CrashDatabaseHandle>;
  close: () => Promise<void>;
};

export type CrashDatabaseHandle = {
  db: Db;
  /** What the operating system does for a process that is over: its connections are closed, what it had begun is undone. */
  close: () => Promise<void>;
};

export async function openCrashDatabase(kind: (typeof databases)[number]): Promise<CrashDatabase> {
  return kind === "pglite" ? openEmbeddedCrashDatabase() : openServerCrashDatabase();
}

async function openEmbeddedCrashDatabase(): Promise<CrashDatabase> {
  const snapshot = await loadMigratedSnapshot({ cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") });
  const server = await EmbeddedServer.start({ directory: "memory", snapshot });
  return {
    open: async (fuse) => ({
      db: createEmbeddedDatabase(new CrashableServer(server, fuse)),
      // The database is inside the process; a new one on its directory begins without what was not committed.
      close: async () => void (await server.runStatement("rollback", [])),
    }),
    close: () => server.close(),
  };
}

async function openServerCrashDatabase(): Promise<CrashDatabase> {
  const { url, drop: close } = await createPostgresDatabase();
  const options: PostgresOptions = { url, allowUnsafeFsync: true, poolSizeMax: 4 };
  return {
    open: async (fuse) => {
      const guard = new TransactionGuard();
      const db = createPooledDatabase(new CrashableDriver(options, { guard, fuse }), guard);
      return { db, close: () => db.close() };
    },
    close,
  };
}

class CrashableServer extends EmbeddedServer {
  readonly #session: SessionStatements;

  constructor(server: EmbeddedServer, fuse: CrashInjector) {
    super(server.pglite, undefined);
    this.#session = new SessionStatements(fuse);
  }

  override runStatement(text: string, values: (string | null)[]): Promise<StatementResult> {
    return this.#session.runStatement(text, () => super.runStatement(text, values));
  }
}

class CrashableDriver extends PooledDriver {
  readonly #injector: CrashInjector;

  constructor(options: PostgresOptions, { guard, fuse }: { guard: TransactionGuard; fuse: CrashInjector }) {
    super(options, guard);
    this.#injector = fuse;
  }

  override async acquire(): ReturnType<PooledDriver["acquire"]> {
    this.#injector.assertAlive();
    const session = await super.acquire();
    const statements = new SessionStatements(this.#injector);
    const ask = session.runStatement.bind(session);
    session.runStatement = (text, parameters) => statements.runStatement(text, () => ask(text, parameters));
    return session;
  }
}

/** The statements of one session. Inside a transaction only its commit leaves something behind. */
class SessionStatements {
  readonly #injector: CrashInjector;
  #isInTransaction = false;

  constructor(fuse: CrashInjector) {
    this.#injector = fuse;
  }

  async runStatement(text: string, ask: () => Promise<StatementResult>): Promise<StatementResult> {
    const name = text.replace(/\s+/g, " ").trim().slice(0, 80);
    const isInTransaction = this.#isInTransaction;
    if (name.startsWith("start transaction")) this.#isInTransaction = true;
    if (name === "commit" || name === "rollback") this.#isInTransaction = false;
    const isWriting = /^(?:insert|update|delete|with)\b/.test(name) && !this.#isInTransaction;
    return this.#injector.runStep(
      { name: `"${name}"`, isEffect: isWriting || name === "commit", isInTransaction },
      ask,
    );
  }
}
