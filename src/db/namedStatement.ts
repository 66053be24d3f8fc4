import type pg from "pg";
import { decoderOf } from "./decode.ts";
import type { Answer } from "./driver.ts";

// A statement that is asked all the time. Its text goes to a connection once and its columns come back once; after that only parameters
// and values travel. The server holds a plan to its columns: where they have changed since, it refuses.

type Column = { readonly name: string; readonly decode: (text: string) => unknown };
type Shape = { readonly columns: readonly Column[]; readonly blank: Readonly<Record<string, unknown>> };

/** What the client hands to a statement that is not its own. */
type Wire = {
  /** The texts that the server has taken, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly stream: { cork(): void; uncork(): void };
  parse(of: { name: string; text: string }): void;
  bind(of: { statement: string; values: readonly (string | null)[] }): void;
  describe(of: { type: "P"; name: "" }): void;
  execute(of: { portal: "" }): void;
  sync(): void;
};

const shapes = new WeakMap<Wire, Map<string, Shape>>();

/** One execution, to be given to `query` of a client once; `answer` settles when the server has answered. */
export class NamedStatement implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly answer: Promise<Answer>;
  readonly #parameters: readonly (string | null)[];
  readonly #answered = Promise.withResolvers<Answer>();
  readonly #rows: Record<string, unknown>[] = [];
  #wire: Wire | undefined;
  #shape: Shape | undefined;
  #command = "";
  #failure: unknown;

  constructor(name: string, text: string, parameters: readonly (string | null)[]) {
    this.name = name;
    this.text = text;
    this.answer = this.#answered.promise;
    this.#parameters = parameters;
  }

  /** Returns an error where nothing was sent. */
  submit(connection: unknown): Error | undefined {
    const wire = connection as Wire;
    const { name, text } = this;
    const parsed = wire.parsedStatements[name];
    if (parsed !== undefined && parsed !== text) return new Error(`two statements are named ${name}`);
    this.#wire = wire;
    this.#shape = shapes.get(wire)?.get(name);
    wire.stream.cork();
    if (parsed === undefined) wire.parse({ name, text });
    wire.bind({ statement: name, values: this.#parameters });
    if (this.#shape === undefined) wire.describe({ type: "P", name: "" });
    wire.execute({ portal: "" });
    wire.sync();
    wire.stream.uncork();
    return undefined;
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoderOf(dataTypeID) }));
    this.#shape = { columns, blank: Object.fromEntries(columns.map(({ name }) => [name, null])) };
    if (this.#wire === undefined) return;
    const ofWire = shapes.get(this.#wire) ?? new Map<string, Shape>();
    shapes.set(this.#wire, ofWire.set(this.name, this.#shape));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      if (this.#shape !== undefined) this.#rows.push(rowOf(this.#shape, fields));
    } catch (error) {
      this.#failure ??= error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#command = text;
  }

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) return this.handleError(this.#failure);
    const words = this.#command.split(" ");
    this.#answered.resolve({ rows: this.#rows, command: words[0] ?? "", rowCount: Number(words.at(-1)) || 0 });
  }

  handleError(error: unknown): void {
    this.#answered.reject(error);
  }
}

function rowOf({ columns, blank }: Shape, fields: readonly (string | null)[]): Record<string, unknown> {
  const row = { ...blank };
  for (let index = 0; index < columns.length; index += 1) {
    const [column, field] = [columns[index], fields[index]];
    if (column !== undefined && field !== null && field !== undefined) row[column.name] = column.decode(field);
  }
  return row;
}
