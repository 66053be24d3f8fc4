import { AbortedTransactionError, type DatabaseConnection } from "kysely";
import { databaseOver, type Db } from "../../src/db/database.ts";
import { decoderOf } from "../../src/db/decode.ts";
import { Session, SessionDriver, type Answer } from "../../src/db/driver.ts";
import type { TransactionGuard } from "../../src/db/guard.ts";
import { encodeParameter } from "../../src/db/parameters.ts";
import { EmbeddedServer } from "../../src/db/pglite.ts";
import { migratedSnapshot } from "../../src/db/snapshot.ts";
import { cacheDirectory } from "../support/database.ts";
import type { DatabaseFault, Faults } from "./faults.ts";
import { ProcessCrashed, type SimProcess } from "./process.ts";
import { describeMessage, parseMessage, readReply, runMessage, syncMessage, type Reply } from "./wire.ts";

const APPLIED_AT = new Date("2026-01-01T00:00:00Z");
const PREPARED_MAX = 3_000;
const LATENCY_MS_MAX = 4;
const WRITES = /\b(?:insert into|update|delete from) "?(?!set\b|skip\b)([a-z_]+)"?/gi;

/** Told after something was committed: whose it was, and which tables were written. */
export type OnCommit = (process: SimProcess, tables: ReadonlySet<string>) => void;

type Prepared = { name: string; columns: readonly { name: string; decode: (text: string) => unknown }[] };

/**
 * One database in memory for all seeds of a thread. Transactions come one after the other, each whole: what happens between the statements
 * of two is for a real server to show. Statements are prepared once, because planning them takes longer than running them.
 */
export class SimDatabase {
  readonly server: EmbeddedServer;
  readonly #prepared = new Map<string, Prepared>();
  readonly #queue: (() => void)[] = [];
  #isTaken = false;
  #tables: string[] = [];

  private constructor(server: EmbeddedServer) {
    this.server = server;
  }

  static async open(): Promise<SimDatabase> {
    const snapshot = await migratedSnapshot({ cacheDirectory, appliedAt: APPLIED_AT });
    const database = new SimDatabase(await EmbeddedServer.start({ directory: "memory", snapshot }));
    database.ask("set plan_cache_mode = force_generic_plan");
    database.ask("set jit = off");
    const { rows } = database.ask(
      "select tablename from pg_tables where schemaname = 'public' and tablename !~ 'migration' order by 1",
    );
    database.#tables = rows.map((row) => `"${String(row["tablename"])}"`);
    return database;
  }

  /** Empties every table, as the first migration has left them. */
  reset(): void {
    this.#queue.length = 0;
    this.#isTaken = false;
    // Each table that is truncated costs new files, so those that were not used are left alone.
    const used = this.#tables.filter((table) => this.ask(`select from ${table} limit 1`).rows.length > 0);
    // Also a statement that was undone has drawn from its sequence.
    this.ask(
      "select setval(format('%I', sequencename)::regclass, start_value, false) from pg_sequences where schemaname = 'public'",
    );
    if (used.length === 0) return;
    this.ask("set session_replication_role = replica");
    this.ask(`truncate ${used.join(", ")} cascade`);
    this.ask("set session_replication_role = origin");
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  /** Whether a transaction or a statement is under way. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Runs one statement at once, past every queue and fault. */
  ask(text: string, parameters: readonly (string | null)[] = []): Answer {
    const { name, columns } = this.#prepare(text);
    return answerOf(this.#send([runMessage(name, parameters), syncMessage]), columns);
  }

  /** The same with the beginning of a transaction before it. */
  askFirst(text: string, parameters: readonly (string | null)[]): Answer {
    const begin = this.#prepare("begin");
    const { name, columns } = this.#prepare(text);
    return answerOf(this.#send([runMessage(begin.name, []), runMessage(name, parameters), syncMessage]), columns);
  }

  /** The rows of a statement, for checks. */
  rows(text: string, parameters: readonly unknown[] = []): Record<string, unknown>[] {
    return this.ask(text, parameters.map(encodeParameter)).rows;
  }

  /**
   * A handle for one process, whose calls wait for their turn and may meet faults; `assertOutside` throws where it is called from inside an open
   * transaction of the handle.
   */
  openFor(seat: Omit<Seat, "database">): { db: Db; assertOutside: () => void } {
    let guard: TransactionGuard | undefined;
    const db = databaseOver(this.server, (given) => {
      guard = given;
      return new SimDriver(given, { ...seat, database: this });
    });
    return { db, assertOutside: () => guard?.assertOutside() };
  }

  async take(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#isTaken = true;
  }

  release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known) return known;
    if (this.#prepared.size > PREPARED_MAX) this.#forgetPrepared();
    const name = `p${this.#prepared.size}`;
    const reply = this.#send([parseMessage(name, text), describeMessage(name), syncMessage]);
    const columns = reply.columns.map((column) => ({ name: column.name, decode: decoderOf(column.typeId) }));
    const prepared = { name, columns };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  #forgetPrepared(): void {
    this.#prepared.clear();
    this.#send([parseMessage("", "deallocate all"), runMessage("", []), syncMessage]);
  }

  #assertWhole(): void {
    const { aborted } = this.server;
    if (aborted) throw aborted;
  }

  #send(round: readonly Uint8Array[]): Reply {
    this.#assertWhole();
    const chunks: Buffer[] = [];
    // It has run when the call returns; the promise only tells of an engine that broke down, which `aborted` does as well.
    const onRawData = (data: Uint8Array) => void chunks.push(Buffer.from(data));
    this.server.pglite
      .execProtocolRawStream(Buffer.concat(round), { syncToFs: false, onRawData })
      .catch(() => undefined);
    this.#assertWhole();
    const reply = readReply(Buffer.concat(chunks));
    if (reply.error !== undefined) throw reply.error;
    return reply;
  }
}

function answerOf({ rows, tag }: Reply, columns: Prepared["columns"]): Answer {
  const words = tag.split(" ");
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

type Seat = { database: SimDatabase; process: SimProcess; faults: Faults; onCommit: OnCommit };

class SimSession extends Session {
  readonly #seat: Seat;
  readonly #fault: DatabaseFault | undefined;
  readonly tables = new Set<string>();
  /** A transaction begins with its first statement. */
  transaction: "none" | "wanted" | "open" = "none";
  #statements = 0;

  constructor(seat: Seat, fault: DatabaseFault | undefined) {
    super();
    this.#seat = seat;
    this.#fault = fault;
  }

  override async ask(text: string, parameters: (string | null)[]): Promise<Answer> {
    const { database, process } = this.#seat;
    process.assertRunning();
    this.#statements += 1;
    if (this.#fault !== undefined && !isAtCommit(this.#fault) && this.#statements >= this.#fault.atStatement)
      this.#strike(this.#fault);
    for (const [, table] of text.matchAll(WRITES)) if (table !== undefined) this.tables.add(table.toLowerCase());
    if (this.transaction === "wanted") {
      this.transaction = "open";
      return database.askFirst(text, parameters);
    }
    if (this.transaction === "open" || this.tables.size === 0) return database.ask(text, parameters);
    return this.end(() => database.ask(text, parameters));
  }

  /** Commits, or runs the one statement that commits by itself: the fault may come before it or right after it. */
  end<T>(commit: () => T): T {
    const { process, onCommit } = this.#seat;
    const fault = this.#fault !== undefined && isAtCommit(this.#fault) ? this.#fault : undefined;
    if (fault?.kind === "commitLost") this.#strike(fault);
    const answer = commit();
    onCommit(process, new Set(this.tables));
    if (fault) this.#strike(fault);
    return answer;
  }

  #strike(fault: DatabaseFault): never {
    const { process, faults } = this.#seat;
    faults.note(fault.kind);
    if (fault.kind === "crashInTransaction" || fault.kind === "crashAfterCommit") {
      process.end();
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
  readonly #seat: Seat;

  constructor(guard: TransactionGuard, seat: Seat) {
    super(guard);
    this.#seat = seat;
  }

  override async init(): Promise<void> {}

  override async acquire(): Promise<SimSession> {
    const { database, process, faults } = this.#seat;
    await process.wait(1 + process.random.number() * LATENCY_MS_MAX);
    const fault = faults.drawForDatabase();
    if (fault?.kind === "dbRefused") {
      faults.note(fault.kind);
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    }
    await database.take();
    return new SimSession(this.#seat, fault);
  }

  override async beginTransaction(session: DatabaseConnection): Promise<void> {
    if (session instanceof SimSession) session.transaction = "wanted";
  }

  override async commitTransaction(session: DatabaseConnection): Promise<void> {
    if (!(session instanceof SimSession) || session.transaction !== "open") return;
    session.end(() => {
      if (this.#seat.database.ask("commit").command === "ROLLBACK") throw new AbortedTransactionError();
    });
  }

  // Whatever broke, the server undoes what was not committed.
  override async rollbackTransaction(session: DatabaseConnection): Promise<void> {
    if (session instanceof SimSession && session.transaction === "open") this.#seat.database.ask("rollback");
  }

  override async releaseConnection(): Promise<void> {
    this.#seat.database.release();
  }

  override discard(): void {}

  override async destroy(): Promise<void> {}
}
