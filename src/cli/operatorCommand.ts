import type { OperationName, OperationOutput } from "../operator/runOperation.ts";
import { toJson } from "../operator/process/terminal.ts";
import type { Command, CommandInput, OptionSpec } from "./command.ts";
import { callOnce, CONFIG_OPTION, type TypedFields } from "./operatorClient.ts";
import type { Page } from "../operator/lists/page.ts";

/**
 * A command that runs one operation: its name is the operation's, and its arguments and options are the fields of the
 * operation's input, which reads them.
 */
type OperatorCommand<Name extends OperationName> = Omit<Command, "name" | "run" | "positionals" | "options"> & {
  operation: Name;
  positionals?: Command["positionals"];
  options?: Command["options"];
  /** Changes fields before they are sent, such as the name of a file to its content. */
  prepare?: (fields: TypedFields, input: CommandInput) => TypedFields | Promise<TypedFields>;
  /** The output with --json, where it has more than the command shows. */
  json?: (output: OperationOutput<Name>) => unknown;
  /** The lines without --json. */
  print: (output: OperationOutput<Name>, input: CommandInput) => readonly string[];
  /** What follows on standard error, in both forms. */
  note?: (output: OperationOutput<Name>, input: CommandInput) => readonly string[];
};

export function operatorCommand<Name extends OperationName>(spec: OperatorCommand<Name>): Command {
  const { operation, positionals = [], options = {}, prepare = (fields) => fields, json, print, note, ...texts } = spec;
  return {
    ...texts,
    name: operation,
    positionals,
    options: { ...options, ...CONFIG_OPTION },
    async run(input) {
      const { terminal, asJson } = input;
      const output = await callOnce(input, operation, await prepare(readFields(positionals, input), input));
      const lines = asJson ? [toJson(json === undefined ? output : json(output))] : print(output, input);
      for (const line of lines) terminal.out(line);
      for (const line of note?.(output, input) ?? []) terminal.note(line);
      return 0;
    },
  };
}

/** The options of every command that lists rows in pages. */
const PAGE_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  limit: { value: "COUNT", summary: "number of rows to show, 1 to 1000; default 20" },
  cursor: { value: "CURSOR", summary: "show the rows after this one: the cursor that the page before ends with" },
};

/** The operations that list rows in pages. */
type ListName = { [Name in OperationName]: OperationOutput<Name> extends Page<unknown> ? Name : never }[OperationName];
type RowOf<Name extends ListName> = OperationOutput<Name>["data"][number];

type ListCommand<Name extends ListName> = Omit<OperatorCommand<Name>, "print" | "note" | "json"> & {
  printRows: (rows: readonly RowOf<Name>[], input: CommandInput) => readonly string[];
};

/** A command that shows a page of rows, and how to get the next one. With --json, the rows are one array. */
export function operatorListCommand<Name extends ListName>({ printRows, ...spec }: ListCommand<Name>): Command {
  return operatorCommand<Name>({
    ...spec,
    options: { ...spec.options, ...PAGE_OPTIONS },
    json: ({ data }) => data,
    print: ({ data }, input) => printRows(data, input),
    note: ({ nextCursor }) => (nextCursor === null ? [] : [`More rows follow: --cursor ${nextCursor}`]),
  });
}

/** The arguments by their names, and the options: --fee-bps is feeBps, and --account is accountId. */
export function readFields(positionals: Command["positionals"], { positionals: given, values, flags }: CommandInput) {
  const options = [...Object.entries(values), ...[...flags].map((name): [string, true] => [name, true])];
  return Object.fromEntries<string | boolean | undefined>([
    ...positionals.map(({ name }, index): [string, string | undefined] => [name, given[index]]),
    ...options.filter(([name]) => !NOT_SENT.has(name)).map(([name, value]) => [fieldOf(name), value] as const),
  ]);
}

const NOT_SENT: ReadonlySet<string> = new Set(["json", "config", "service", "help"]);
const RENAMED: Readonly<Record<string, string>> = { account: "accountId", intent: "intentId" };

export function fieldOf(option: string): string {
  return RENAMED[option] ?? option.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
