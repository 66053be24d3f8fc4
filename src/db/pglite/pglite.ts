import { assert } from "../../kernel/assert.ts";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PGlite, messages, protocol } from "@electric-sql/pglite";
import type { DatabaseConnection } from "kysely";
import { getDecoder } from "../decoders.ts";
import { statementName, Session, SessionDriver, type StatementResult } from "../driver.ts";
import { DatabaseCrashed } from "../errors.ts";
import type { TransactionGuard } from "../transactionGuard.ts";
import { lockDirectory, type DirectoryLock } from "./directoryLock.ts";
import { crashOnAbort } from "./pgliteAbort.ts";

/** The most calls that may wait for the one connection. More waiters mean that a caller never releases it. */
const WAITING_MAX = 10_000;

type BackendMessages = Awaited<ReturnType<PGlite["execProtocolStream"]>>;

export type PgliteOptions = {
  /** A directory for this database alone (created when missing), or "memory". */
  directory: string;
  /** A dump to start from, when the directory holds no database yet. */
  snapshot?: Blob;
  /** Called once when the embedded database crashes. Every later call rejects with the same error. */
  onAbort?: (error: DatabaseCrashed) => void;
};

/** A running embedded database, and the lock that keeps other processes out of its directory. */
export class EmbeddedServer {
  readonly pglite: PGlite;
  readonly #lock: DirectoryLock | undefined;
  aborted: DatabaseCrashed | undefined;
  /** Statements already prepared in its one session, by name. */
  readonly #prepared = new Map<string, string>();

  constructor(pglite: PGlite, lock: DirectoryLock | undefined) {
    this.pglite = pglite;
    this.#lock = lock;
  }

  static async start(options: PgliteOptions): Promise<EmbeddedServer> {
    const inMemory = options.directory === "memory";
    const lock = inMemory ? undefined : lockDirectory(options.directory);
    try {
      const pglite = await startPglite(inMemory ? undefined : join(options.directory, "pgdata"), options.snapshot);
      const server = new EmbeddedServer(pglite, lock);
      crashOnAbort(pglite, (error) => {
        server.aborted = error;
        options.onAbort?.(error);
      });
      return server;
    } catch (error) {
      lock?.release();
      throw error;
    }
  }

  /**
   * Runs one statement in one round trip of the wire protocol: parse (unless prepared), bind, describe, execute, sync.
   */
  async runStatement(text: string, values: (string | null)[]): Promise<StatementResult> {
    if (this.aborted !== undefined) throw this.aborted;
    const { serialize } = protocol;
    const name = statementName(text);
    if (name !== undefined) await this.#prepare(name, text);
    return parseResult(
      await this.#roundTrip([
        ...(name === undefined ? [serialize.parse({ text })] : []),
        serialize.bind({ statement: name ?? "", values }),
        serialize.describe({ type: "P" }),
        serialize.execute({}),
      ]),
    );
  }

  // Prepares in a round trip of its own: an error in a shared one would not show whether PREPARE succeeded.
  async #prepare(name: string, text: string): Promise<void> {
    const prepared = this.#prepared.get(name);
    if (prepared === text) return;
    assert(prepared === undefined, `two statements are named ${name}`);
    const { serialize } = protocol;
    // An earlier handle on the same engine may have left a statement of this name.
    await this.#roundTrip([serialize.close({ type: "S", name }), serialize.parse({ name, text })]);
    this.#prepared.set(name, text);
  }

  #roundTrip(messages: readonly Uint8Array[]): Promise<BackendMessages> {
    const round = Buffer.concat([...messages, protocol.serialize.sync()]);
    return this.pglite.runExclusive(() => this.pglite.execProtocolStream(round));
  }

  async close(): Promise<void> {
    try {
      if (this.aborted === undefined && !this.pglite.closed) await this.pglite.close();
    } finally {
      this.#lock?.release();
    }
  }
}

class EmbeddedSession extends Session {
  readonly #server: EmbeddedServer;

  constructor(server: EmbeddedServer) {
    super();
    this.#server = server;
  }

  override async runStatement(text: string, parameters: (string | null)[]): Promise<StatementResult> {
    return await this.#server.runStatement(text, parameters);
  }
}

/** Gives the one session of an embedded database to one caller after the other, in the order of their calls. */
export class EmbeddedDriver extends SessionDriver<EmbeddedSession> {
  readonly #server: EmbeddedServer;
  readonly #session: EmbeddedSession;
  readonly #waiting: (() => void)[] = [];
  #isAcquired = false;

  constructor(server: EmbeddedServer, guard: TransactionGuard) {
    super(guard);
    this.#server = server;
    this.#session = new EmbeddedSession(server);
  }

  override async init(): Promise<void> {}

  override async acquire(): Promise<EmbeddedSession> {
    if (this.#isAcquired) {
      if (this.#waiting.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} calls wait for the embedded database`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#isAcquired = true;
    return this.#session;
  }

  // The session stays reserved during the handover, so that a new caller cannot overtake the queue.
  override async releaseConnection(_session: DatabaseConnection): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isAcquired = false;
    else next();
  }

  // There is no second session to continue with, so a failed rollback ends the database.
  override discard(): void {
    this.#server.aborted ??= new DatabaseCrashed("a transaction could not be rolled back");
  }

  override async destroy(): Promise<void> {
    await this.#server.close();
  }
}

async function startPglite(directory: string | undefined, snapshot: Blob | undefined): Promise<PGlite> {
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  const hasData = directory !== undefined && existsSync(join(directory, "PG_VERSION"));
  return await PGlite.create({
    ...(directory === undefined ? {} : { dataDir: directory }),
    ...(snapshot === undefined || hasData ? {} : { loadDataDir: snapshot }),
  });
}

function parseResult(reply: BackendMessages): StatementResult {
  const result: StatementResult = { rows: [], command: "", rowCount: 0 };
  let columns: readonly { name: string; decode: (text: string) => unknown }[] = [];
  for (const message of reply) {
    if (message instanceof messages.RowDescriptionMessage) {
      columns = message.fields.map((field) => ({ name: field.name, decode: getDecoder(field.dataTypeID) }));
    } else if (message instanceof messages.DataRowMessage) {
      const { fields } = message;
      result.rows.push(
        Object.fromEntries(columns.map(({ name, decode }, i) => [name, decodeField(fields[i], decode)])),
      );
    } else if (message instanceof messages.CommandCompleteMessage) {
      const tagParts = message.text.split(" ");
      result.command = tagParts[0] ?? "";
      result.rowCount = Number(tagParts.at(-1));
    }
  }
  return result;
}

function decodeField(text: string | null | undefined, decode: (text: string) => unknown): unknown {
  return text === null || text === undefined ? null : decode(text);
}
