import type pg from "pg";
import { getDecoder } from "../decoders.ts";
import type { StatementResult } from "../driver.ts";

// A statement that is asked for all the time. Its text goes to a connection once and its columns come back once; after that only parameters
// and values travel. The server holds a plan to its columns: where they have changed since, it refuses.

type Column = { readonly name: string; readonly decode: (text: string) => unknown };
type ResultShape = { readonly columns: readonly Column[]; readonly emptyRow: Readonly<Record<string, unknown>> };

/** What the client hands to a statement that is not its own. */
type ProtocolConnection = {
  /** The texts that the server has taken, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly stream: { cork(): void; uncork(): void };
  parse(of: { name: string; text: string }): void;
  bind(of: { statement: string; values: readonly (string | null)[] }): void;
  describe(of: { type: "P"; name: "" }): void;
  execute(of: { portal: "" }): void;
  sync(): void;
};

const shapesByConnection = new WeakMap<ProtocolConnection, Map<string, ResultShape>>();

/** What became of one execution. */
export type Outcome = PromiseSettledResult<StatementResult>;

export type Parameters = readonly (string | null)[];

/**
 * Executions of one statement, to be given to `query` of a client once. They travel together, and what one of them breaks is not
 * tried for those behind it. The server keeps them as one, so that several are of a statement that only reads.
 */
export class NamedStatement implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  /**
   * Resolves when the server is done, with what became of each execution: fewer than were asked for when one failed, which is then the
   * last. It never rejects; where the connection was lost, or the server could not keep what was done, all of them failed.
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

  /** Returns an error where nothing was sent. */
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
    // While executions are left, the server speaks of the one that it was at. Afterwards it says that what was done could not be kept; and
    // where the connection is lost, nobody knows whether it was.
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
