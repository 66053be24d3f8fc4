import { parseArgs } from "node:util";
import type { ProcessEnvironment } from "../config/config.ts";
import { closestMatch } from "../kernel/text/closestMatch.ts";
import { UsageError } from "../operator/errors.ts";
import type { Terminal } from "../operator/process/terminal.ts";

export type OptionSpec = {
  summary: string;
  /** Placeholder of the value in the help, such as FILE; a flag has none. */
  value?: string;
};

export type Positional = { name: string; summary: string; isOptional?: boolean };

export type Command = {
  /** The words of the command, such as "accounts create". */
  name: string;
  /** In the list of commands. */
  summary: string;
  /** The first sentence of its own help, without the full stop. */
  help: string;
  positionals: readonly Positional[];
  options: Readonly<Record<string, OptionSpec>>;
  /** Hints for options that do not exist because the setting is elsewhere. The argument is the typed value, or "". */
  optionHints?: Readonly<Record<string, (typed: string) => string>>;
  examples: readonly string[];
  /** Resolves with the exit code. */
  run(input: CommandInput): Promise<number>;
};

export type CommandInput = {
  positionals: readonly string[];
  /** Options that take a value, by name. */
  values: Readonly<Record<string, string>>;
  /** Options without a value that were given. */
  flags: ReadonlySet<string>;
  asJson: boolean;
  terminal: Terminal;
  environment: ProcessEnvironment;
};

const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { summary: "print the result as JSON" },
  help: { summary: "show this help" },
};

function listOptions(command: Command): Readonly<Record<string, OptionSpec>> {
  return { ...command.options, ...COMMON_OPTIONS };
}

/** Parses the arguments after the command's name. Throws UsageError for unknown options and wrong arguments. */
export function parseInput(command: Command, args: readonly string[]): Omit<CommandInput, "terminal" | "environment"> {
  const specs = listOptions(command);
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(
        Object.entries(specs).map(([name, spec]) => [
          name,
          { type: spec.value === undefined ? "boolean" : "string" } as const,
        ]),
      ),
      help: { type: "boolean", short: "h" },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string> = {};
  const flags = new Set<string>();
  const positionals: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) {
      const next = tokens[index + 1];
      const typed = token.value ?? (next?.kind === "positional" ? next.value : "");
      throw unknownOptionError(command, token, typed);
    }
    if (spec.value === undefined) {
      if (token.value !== undefined) throw new UsageError(`--${token.name} takes no value.`);
      flags.add(token.name);
    } else if (token.value === undefined || token.value === "") {
      throw new UsageError(`--${token.name} needs a value: --${token.name} ${spec.value}.`);
    } else if (Object.hasOwn(values, token.name)) {
      throw new UsageError(`--${token.name} was given twice.`);
    } else values[token.name] = token.value;
  }
  if (!flags.has("help")) checkPositionals(command, positionals);
  return { positionals, values, flags, asJson: flags.has("json") };
}

function unknownOptionError(command: Command, token: { name: string; rawName: string }, typed: string): UsageError {
  const { optionHints = {} } = command;
  const closest = closestMatch(token.name, Object.keys(listOptions(command)));
  const suggestion = closest === undefined ? "" : ` Did you mean --${closest}?`;
  const hint = Object.hasOwn(optionHints, token.name) ? optionHints[token.name]?.(typed) : undefined;
  return new UsageError(`Unknown option ${token.rawName}.${hint === undefined ? suggestion : ` ${hint}`}`);
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const missing = command.positionals.find((positional, index) => given[index] === undefined && !positional.isOptional);
  if (missing !== undefined) throw new UsageError(`Missing argument <${missing.name}>: ${missing.summary}.`);
  const extra = given[command.positionals.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument ${JSON.stringify(extra)}.`);
}

/** Renders the help of one command: summary, usage, options, examples. */
export function renderHelp(command: Command, terminal: Terminal): string[] {
  const synopsis = command.positionals.map(({ name, isOptional }) => (isOptional ? `[<${name}>]` : `<${name}>`));
  const specs = Object.entries(listOptions(command)).map(([name, { value, summary }]): [string, string] => [
    `--${name}${value === undefined ? "" : ` ${value}`}`,
    summary,
  ]);
  const argumentRows = command.positionals.map(({ name, summary }): [string, string] => [`<${name}>`, summary]);
  const width = Math.max(...[...argumentRows, ...specs].map(([left]) => left.length));
  const lines = (rows: readonly [string, string][]) => rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
  return [
    `${command.help}.`,
    "",
    `${terminal.paint("bold", "Usage:")} ${["tributary", command.name, ...synopsis, "[options]"].join(" ")}`,
    "",
    ...(argumentRows.length === 0 ? [] : [terminal.paint("bold", "Arguments:"), ...lines(argumentRows), ""]),
    terminal.paint("bold", "Options:"),
    ...lines(specs),
    "",
    terminal.paint("bold", command.examples.length === 1 ? "Example:" : "Examples:"),
    ...command.examples.map((example) => `  ${example}`),
  ];
}
