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

/** The most calls that may wait for the one connection; more means that somebody never lets go of it. */
const WAITING_MAX = 10_000;

type BackendMessages = Awaited<ReturnType<PGlite["execProtocolStream"]>>;

export type PgliteOptions = {
  /** A directory of its own (made when missing), or "memory". */
  directory: string;
  /** A dump of a database to start from, when the directory holds none yet. */
  snapshot?: Blob;
  /** Told once when the embedded database broke down; every later call rejects with the same error. */
  onAbort?: (error: DatabaseCrashed) => void;
};

/** An embedded database that is running, and the lock that keeps other processes out of its directory. */
export class EmbeddedServer {
  readonly pglite: PGlite;
  readonly #lock: DirectoryLock | undefined;
  aborted: DatabaseCrashed | undefined;
  /** The statements that its one session has taken, by name. */
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

  /** Runs one statement in one round of the wire protocol: parse (unless that is done), bind, describe, execute, sync. */
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

  // A round of its own, because an error of the others would not tell whether this was done.
  async #prepare(name: string, text: string): Promise<void> {
    const prepared = this.#prepared.get(name);
    if (prepared === text) return;
    assert(prepared === undefined, `two statements are named ${name}`);
    const { serialize } = protocol;
    // Whoever asked the same engine before may have left one behind.
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

/** Hands the one session of an embedded database to one caller after the other, in the order of their asking. */
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

  // The session stays taken while it is handed over, so that nobody who asks in between gets ahead.
  override async releaseConnection(_session: DatabaseConnection): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isAcquired = false;
    else next();
  }

  // There is no other session to go on with: a rollback that fails here is the end of the database.
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
  const answer: StatementResult = { rows: [], command: "", rowCount: 0 };
  let columns: readonly { name: string; decode: (text: string) => unknown }[] = [];
  for (const message of reply) {
    if (message instanceof messages.RowDescriptionMessage) {
      columns = message.fields.map((field) => ({ name: field.name, decode: getDecoder(field.dataTypeID) }));
    } else if (message instanceof messages.DataRowMessage) {
      const { fields } = message;
      answer.rows.push(
        Object.fromEntries(columns.map(({ name, decode }, i) => [name, decodeField(fields[i], decode)])),
      );
    } else if (message instanceof messages.CommandCompleteMessage) {
      const words = message.text.split(" ");
      answer.command = words[0] ?? "";
      answer.rowCount = Number(words.at(-1));
    }
  }
  return answer;
}

function decodeField(text: string | null | undefined, decode: (text: string) => unknown): unknown {
  return text === null || text === undefined ? null : decode(text);
}
