import { databaseOver, databaseOverPool, type Db } from "../../src/db/database.ts";
import type { Answer } from "../../src/db/driver.ts";
import { TransactionGuard } from "../../src/db/guard.ts";
import { EmbeddedServer } from "../../src/db/pglite.ts";
import { PooledDriver, type PostgresOptions } from "../../src/db/postgres.ts";
import { cacheDirectory, createPostgresDatabase, type databases } from "../support/database.ts";
import { migratedSnapshot } from "../../src/db/snapshot.ts";
import type { Fuse } from "./fuse.ts";

// The real handles over the real databases, with a fuse before every statement, and before those that open and close a transaction.

export type CrashSite = {
  /** The database as a process sees it whose end is the fuse's. */
  open: (fuse: Fuse) => Promise<Opened>;
  close: () => Promise<void>;
};

export type Opened = {
  db: Db;
  /** What the operating system does for a process that is over: its connections are closed, what it had begun is undone. */
  drop: () => Promise<void>;
};

export async function openCrashSite(kind: (typeof databases)[number]): Promise<CrashSite> {
  return kind === "pglite" ? embeddedSite() : serverSite();
}

async function embeddedSite(): Promise<CrashSite> {
  const snapshot = await migratedSnapshot({ cacheDirectory, appliedAt: new Date("2026-01-01T00:00:00Z") });
  const server = await EmbeddedServer.start({ directory: "memory", snapshot });
  return {
    open: async (fuse) => ({
      db: databaseOver(new FusedServer(server, fuse)),
      // The database is inside the process; a new one on its directory begins without what was not committed.
      drop: async () => void (await server.ask("rollback", [])),
    }),
    close: () => server.close(),
  };
}

async function serverSite(): Promise<CrashSite> {
  const { url, drop } = await createPostgresDatabase();
  const options: PostgresOptions = { url, allowUnsafeFsync: true, poolSizeMax: 4 };
  return {
    open: async (fuse) => {
      const guard = new TransactionGuard();
      const db = databaseOverPool(new FusedDriver(options, { guard, fuse }), guard, options);
      return { db, drop: () => db.close() };
    },
    close: drop,
  };
}

class FusedServer extends EmbeddedServer {
  readonly #statements: Statements;

  constructor(server: EmbeddedServer, fuse: Fuse) {
    super(server.pglite, undefined);
    this.#statements = new Statements(fuse);
  }

  override ask(text: string, values: (string | null)[]): Promise<Answer> {
    return this.#statements.pass(text, () => super.ask(text, values));
  }
}

class FusedDriver extends PooledDriver {
  readonly #fuse: Fuse;

  constructor(options: PostgresOptions, { guard, fuse }: { guard: TransactionGuard; fuse: Fuse }) {
    super(options, guard);
    this.#fuse = fuse;
  }

  override async acquire(): ReturnType<PooledDriver["acquire"]> {
    this.#fuse.assertAlive();
    const session = await super.acquire();
    const statements = new Statements(this.#fuse);
    const ask = session.ask.bind(session);
    session.ask = (text, parameters) => statements.pass(text, () => ask(text, parameters));
    return session;
  }
}

/** The statements of one session. Inside a transaction only its commit leaves something behind. */
class Statements {
  readonly #fuse: Fuse;
  #isInTransaction = false;

  constructor(fuse: Fuse) {
    this.#fuse = fuse;
  }

  async pass(text: string, ask: () => Promise<Answer>): Promise<Answer> {
    const name = text.replace(/\s+/g, " ").trim().slice(0, 80);
    const isInTransaction = this.#isInTransaction;
    if (name.startsWith("start transaction")) this.#isInTransaction = true;
    if (name === "commit" || name === "rollback") this.#isInTransaction = false;
    const isWriting = /^(?:insert|update|delete|with)\b/.test(name) && !this.#isInTransaction;
    return this.#fuse.pass({ name: `"${name}"`, isEffect: isWriting || name === "commit", isInTransaction }, ask);
  }
}
