import { AbortedTransactionError, type DatabaseConnection } from "kysely";
import { createEmbeddedDatabase, type Db } from "../../src/db/database.ts";
import { getDecoder } from "../../src/db/decoders.ts";
import { Session, SessionDriver, type StatementResult } from "../../src/db/driver.ts";
import type { TransactionGuard } from "../../src/db/transactionGuard.ts";
import { encodeParameter } from "../../src/db/parameters.ts";
import { EmbeddedServer } from "../../src/db/pglite/pglite.ts";
import { loadMigratedSnapshot } from "../../src/db/pglite/snapshot.ts";
import { cacheDirectory } from "../support/database.ts";
import type { DatabaseFault, FaultSchedule } from "./faultSchedule.ts";
import { ProcessCrashed, type SimProcess } from "./simProcess.ts";
import {
  describeMessage,
  parseMessage,
  readReply,
  bindAndExecuteMessage,
  syncMessage,
  type Reply,
} from "./postgresProtocol.ts";

const APPLIED_AT = new Date("2026-01-01T00:00:00Z");
const PREPARED_MAX = 3_000;
const LATENCY_MS_MAX = 4;
const WRITTEN_TABLES = /\b(?:insert into|update|delete from) "?(?!set\b|skip\b)([a-z_]+)"?/gi;

/** Called after each commit with its process and the written tables. */
export type OnCommit = (process: SimProcess, tables: ReadonlySet<string>) => void;

type PreparedStatement = { name: string; columns: readonly { name: string; decode: (text: string) => unknown }[] };

/**
 * One in-memory database for all seeds of a thread. Transactions run one after the other, each whole; tests on a real
 * server cover interleaved ones. Statements are prepared once, because planning takes longer than execution.
 */
export class SimDatabase {
  readonly server: EmbeddedServer;
  readonly #prepared = new Map<string, PreparedStatement>();
  readonly #queue: (() => void)[] = [];
  #isLocked = false;
  #tables: string[] = [];
  #temporary: readonly string[] = [];
  #isReplanned = false;

  private constructor(server: EmbeddedServer) {
    this.server = server;
  }

  static async open(): Promise<SimDatabase> {
    const snapshot = await loadMigratedSnapshot({ cacheDirectory, appliedAt: APPLIED_AT });
    const database = new SimDatabase(await EmbeddedServer.start({ directory: "memory", snapshot }));
    database.query("set plan_cache_mode = force_generic_plan");
    database.query("set jit = off");
    const { rows } = database.query(
      "select tablename from pg_tables where schemaname = 'public' and tablename !~ 'migration' order by 1",
    );
    database.#tables = rows.map((row) => `"${String(row["tablename"])}"`);
    return database;
  }

  /** Empties every table and restores the state after the first migration. */
  reset(): void {
    this.#queue.length = 0;
    this.#isLocked = false;
    this.removeTemporary();
    // Each truncated table costs new files, so unused tables stay.
    const used = this.#tables.filter((table) => this.query(`select from ${table} limit 1`).rows.length > 0);
    // Sequences advance even for statements that were rolled back.
    this.query(
      "select setval(format('%I', sequencename)::regclass, start_value, false) from pg_sequences where schemaname = 'public'",
    );
    if (used.length === 0) return;
    this.query("set session_replication_role = replica");
    this.query(`truncate ${used.join(", ")} cascade`);
    this.query("set session_replication_role = origin");
    if (this.#isReplanned) this.#forgetPrepared();
    this.#isReplanned = false;
  }

  /** Adds something to the schema until it is removed, or the next seed begins. */
  addTemporarily({ add, remove }: { add: readonly string[]; remove: readonly string[] }): void {
    for (const statement of add) this.query(statement);
    this.#temporary = remove;
  }

  /** Plans all statements anew for the present sizes of the tables: the first plans were made for empty ones. */
  replan(): void {
    this.#isReplanned = true;
    this.#forgetPrepared();
  }

  removeTemporary(): void {
    for (const statement of this.#temporary) this.query(statement);
    this.#temporary = [];
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  /** Whether a transaction or a statement is running. */
  get isLocked(): boolean {
    return this.#isLocked;
  }

  /** Runs one statement at once, without queue and faults. */
  query(text: string, parameters: readonly (string | null)[] = []): StatementResult {
    const { name, columns } = this.#prepare(text);
    return decodeReply(this.#roundTrip([bindAndExecuteMessage(name, parameters), syncMessage]), columns);
  }

  /** Runs a statement after `begin` in one round. */
  beginAndQuery(text: string, parameters: readonly (string | null)[]): StatementResult {
    const begin = this.#prepare("begin");
    const { name, columns } = this.#prepare(text);
    return decodeReply(
      this.#roundTrip([bindAndExecuteMessage(begin.name, []), bindAndExecuteMessage(name, parameters), syncMessage]),
      columns,
    );
  }

  /** The rows of a statement, for checks. */
  rows(text: string, parameters: readonly unknown[] = []): Record<string, unknown>[] {
    return this.query(text, parameters.map(encodeParameter)).rows;
  }

  /**
   * Opens a handle for one process. Its calls wait for their turn and may meet faults. `assertOutside` throws inside an
   * open transaction of the handle.
   */
  connect(context: Omit<SessionContext, "database">): { db: Db; assertOutside: () => void } {
    let guard: TransactionGuard | undefined;
    const db = createEmbeddedDatabase(this.server, (transactionGuard) => {
      guard = transactionGuard;
      return new SimDriver(transactionGuard, { ...context, database: this });
    });
    return { db, assertOutside: () => guard?.assertOutside() };
  }

  async acquire(): Promise<void> {
    if (this.#isLocked) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#isLocked = true;
  }

  release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#isLocked = false;
    else next();
  }

  #prepare(text: string): PreparedStatement {
    const known = this.#prepared.get(text);
    if (known) return known;
    if (this.#prepared.size > PREPARED_MAX) this.#forgetPrepared();
    const name = `p${this.#prepared.size}`;
    const reply = this.#roundTrip([parseMessage(name, text), describeMessage(name), syncMessage]);
    const columns = reply.columns.map((column) => ({ name: column.name, decode: getDecoder(column.typeId) }));
    const prepared = { name, columns };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  #forgetPrepared(): void {
    this.#prepared.clear();
    this.#roundTrip([parseMessage("", "deallocate all"), bindAndExecuteMessage("", []), syncMessage]);
  }

  #assertNotAborted(): void {
    const { aborted } = this.server;
    if (aborted) throw aborted;
  }

  #roundTrip(round: readonly Uint8Array[]): Reply {
    this.#assertNotAborted();
    const chunks: Buffer[] = [];
    // The statement has run when the call returns. The promise reports only a broken engine, which `aborted` reports as
    // well.
    const onRawData = (data: Uint8Array) => void chunks.push(Buffer.from(data));
    this.server.pglite
      .execProtocolRawStream(Buffer.concat(round), { syncToFs: false, onRawData })
      .catch(() => undefined);
    this.#assertNotAborted();
    const reply = readReply(Buffer.concat(chunks));
    if (reply.error !== undefined) throw reply.error;
    return reply;
  }
}

function decodeReply({ rows, commandTag }: Reply, columns: PreparedStatement["columns"]): StatementResult {
  const words = commandTag.split(" ");
  return {
    command: words[0] ?? "",
    rowCount: Number(words.at(-1)),
    rows: rows.map((fields) => {
      const row: Record<string, unknown> = {};
      for (const [index, { name, decode }] of columns.entries()) {
        const text = fields[index] ?? null;
        row[name] = text === null ? null : decode(text);
      }
      return row;
    }),
  };
}

type SessionContext = { database: SimDatabase; process: SimProcess; faults: FaultSchedule; onCommit: OnCommit };

class SimSession extends Session {
  readonly #context: SessionContext;
  readonly #fault: DatabaseFault | undefined;
  readonly tables = new Set<string>();
  /** A transaction begins with its first statement. */
  transactionState: "none" | "wanted" | "open" = "none";
  #statements = 0;

  constructor(context: SessionContext, fault: DatabaseFault | undefined) {
    super();
    this.#context = context;
    this.#fault = fault;
  }

  override async runStatement(text: string, parameters: (string | null)[]): Promise<StatementResult> {
    const { database, process } = this.#context;
    process.assertRunning();
    this.#statements += 1;
    if (this.#fault !== undefined && !isAtCommit(this.#fault) && this.#statements >= this.#fault.atStatement)
      this.#injectFault(this.#fault);
    for (const [, table] of text.matchAll(WRITTEN_TABLES))
      if (table !== undefined) this.tables.add(table.toLowerCase());
    if (this.transactionState === "wanted") {
      this.transactionState = "open";
      return database.beginAndQuery(text, parameters);
    }
    if (this.transactionState === "open" || this.tables.size === 0) return database.query(text, parameters);
    return this.commitWith(() => database.query(text, parameters));
  }

  /** Commits, or runs a single statement that commits by itself. A fault strikes before or right after the commit. */
  commitWith<T>(commit: () => T): T {
    const { process, onCommit } = this.#context;
    const fault = this.#fault !== undefined && isAtCommit(this.#fault) ? this.#fault : undefined;
    if (fault?.kind === "commitLost") this.#injectFault(fault);
    const answer = commit();
    onCommit(process, new Set(this.tables));
    if (fault) this.#injectFault(fault);
    return answer;
  }

  #injectFault(fault: DatabaseFault): never {
    const { process, faults } = this.#context;
    faults.recordInjected(fault.kind);
    if (fault.kind === "crashInTransaction" || fault.kind === "crashAfterCommit") {
      process.crash();
      throw new ProcessCrashed(`${process.name} has crashed`);
    }
    if (fault.kind === "deadlock")
      throw Object.assign(new Error("deadlock detected"), { code: "40P01", severity: "ERROR" });
    throw Object.assign(new Error(`the connection was lost (${fault.kind})`), { code: "ECONNRESET" });
  }
}

function isAtCommit({ kind }: DatabaseFault): boolean {
  return kind === "commitLost" || kind === "commitUnknown" || kind === "crashAfterCommit";
}

class SimDriver extends SessionDriver<SimSession> {
  readonly #context: SessionContext;

  constructor(guard: TransactionGuard, context: SessionContext) {
    super(guard);
    this.#context = context;
  }

  override async init(): Promise<void> {}

  override async acquire(): Promise<SimSession> {
    const { database, process, faults } = this.#context;
    await process.wait(1 + process.random.number() * LATENCY_MS_MAX);
    const fault = faults.drawDatabaseFault();
    if (fault?.kind === "dbRefused") {
      faults.recordInjected(fault.kind);
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    }
    await database.acquire();
    return new SimSession(this.#context, fault);
  }

  override async beginTransaction(session: DatabaseConnection): Promise<void> {
    if (session instanceof SimSession) session.transactionState = "wanted";
  }

  override async commitTransaction(session: DatabaseConnection): Promise<void> {
    if (!(session instanceof SimSession) || session.transactionState !== "open") return;
    session.commitWith(() => {
      if (this.#context.database.query("commit").command === "ROLLBACK") throw new AbortedTransactionError();
    });
  }

  // The server rolls back uncommitted statements after every failure.
  override async rollbackTransaction(session: DatabaseConnection): Promise<void> {
    if (session instanceof SimSession && session.transactionState === "open") this.#context.database.query("rollback");
  }

  override async releaseConnection(): Promise<void> {
    this.#context.database.release();
  }

  override discard(): void {}

  override async destroy(): Promise<void> {}
}
