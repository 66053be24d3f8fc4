import type pg from "pg";
import { getDecoder } from "../decoders.ts";
import type { StatementResult } from "../driver.ts";

// Several executions of one prepared statement in one message, which pg itself cannot send. The server describes the
// columns only once a connection. The bench shows that a read of an intent needs both: see docs/bench.md.

type Column = { readonly name: string; readonly decode: (text: string) => unknown };
type ResultShape = { readonly columns: readonly Column[]; readonly emptyRow: Readonly<Record<string, unknown>> };

/** The connection that pg passes to `submit`. */
type ProtocolConnection = {
  /** The texts that the server has parsed, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly stream: { cork(): void; uncork(): void };
  parse(of: { name: string; text: string }): void;
  bind(of: { statement: string; values: readonly (string | null)[] }): void;
  describe(of: { type: "P"; name: "" }): void;
  execute(of: { portal: "" }): void;
  sync(): void;
};

const shapesByConnection = new WeakMap<ProtocolConnection, Map<string, ResultShape>>();

/** The outcome of one execution. */
export type Outcome = PromiseSettledResult<StatementResult>;

export type Parameters = readonly (string | null)[];

/**
 * Executions of one statement, for one call of a client's `query`. The server skips the executions behind one that
 * failed. It runs the others as one transaction, so the statement must only read.
 */
export class StatementBatch implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  /**
   * Resolves when the server has finished. After a failed execution, which is then the last outcome, there are fewer
   * outcomes than executions. After a lost connection or a failed commit all of them are rejected. Never rejects
   * itself.
   */
  readonly outcomes: Promise<Outcome[]>;
  readonly #executions: readonly Parameters[];
  readonly #completion = Promise.withResolvers<Outcome[]>();
  readonly #outcomes: Outcome[] = [];
  #rows: Record<string, unknown>[] = [];
  #failure: { reason: unknown } | undefined;
  #connection: ProtocolConnection | undefined;
  #shape: ResultShape | undefined;

  constructor(name: string, text: string, executions: readonly Parameters[]) {
    this.name = name;
    this.text = text;
    this.outcomes = this.#completion.promise;
    this.#executions = executions;
  }

  /** Returns an error and sends nothing where the name has another text. */
  submit(connection: unknown): Error | undefined {
    const wire = connection as ProtocolConnection;
    const { name, text } = this;
    const parsed = wire.parsedStatements[name];
    if (parsed !== undefined && parsed !== text) return new Error(`two statements are named ${name}`);
    this.#connection = wire;
    this.#shape = shapesByConnection.get(wire)?.get(name);
    wire.stream.cork();
    if (parsed === undefined) wire.parse({ name, text });
    for (const values of this.#executions) {
      wire.bind({ statement: name, values });
      if (this.#shape === undefined) wire.describe({ type: "P", name: "" });
      wire.execute({ portal: "" });
    }
    wire.sync();
    wire.stream.uncork();
    return undefined;
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: getDecoder(dataTypeID) }));
    this.#shape = { columns, emptyRow: Object.fromEntries(columns.map(({ name }) => [name, null])) };
    if (this.#connection === undefined) return;
    const ofWire = shapesByConnection.get(this.#connection) ?? new Map<string, ResultShape>();
    shapesByConnection.set(this.#connection, ofWire.set(this.name, this.#shape));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      if (this.#shape !== undefined) this.#rows.push(decodeRow(this.#shape, fields));
    } catch (reason) {
      this.#failure ??= { reason };
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const words = text.split(" ");
    const value = { rows: this.#rows, command: words[0] ?? "", rowCount: Number(words.at(-1)) || 0 };
    this.#outcomes.push(this.#failure ? { status: "rejected", ...this.#failure } : { status: "fulfilled", value });
    this.#rows = [];
    this.#failure = undefined;
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  handleReadyForQuery(): void {
    this.#completion.resolve(this.#outcomes);
  }

  handleError(reason: unknown): void {
    const isOfServer = typeof reason === "object" && reason !== null && "severity" in reason;
    const rejected: Outcome = { status: "rejected", reason };
    // An error of the server belongs to the next execution. After the last execution it means that the commit failed.
    // An error of the connection leaves all outcomes unknown.
    const isOfNext = isOfServer && this.#outcomes.length < this.#executions.length;
    this.#completion.resolve(isOfNext ? [...this.#outcomes, rejected] : this.#executions.map(() => rejected));
  }
}

function decodeRow({ columns, emptyRow }: ResultShape, fields: readonly (string | null)[]): Record<string, unknown> {
  const row = { ...emptyRow };
  for (let index = 0; index < columns.length; index += 1) {
    const [column, field] = [columns[index], fields[index]];
    if (column !== undefined && field !== null && field !== undefined) row[column.name] = column.decode(field);
  }
  return row;
}
