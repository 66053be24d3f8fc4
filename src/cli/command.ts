import { parseArgs } from "node:util";
import type { Environment } from "../config.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Terminal } from "./terminal.ts";

/** What was typed is not what the command takes. Exit code 2. */
export class UsageRefused extends Error {
  override readonly name = "UsageRefused";
}

/** The command could not do its work, for a reason that a person can read. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

export type OptionSpec = {
  summary: string;
  /** What stands for the value in the help, such as FILE; a switch has none. */
  value?: string;
};

export type Positional = { name: string; summary: string; isOptional?: boolean };

export type Command = {
  /** As it is typed, such as "accounts create". */
  name: string;
  summary: string;
  positionals: readonly Positional[];
  options: Readonly<Record<string, OptionSpec>>;
  /** What people expect to be an option and is set elsewhere: where, said with what they typed behind it. */
  elsewhere?: Readonly<Record<string, (typed: string) => string>>;
  examples: readonly string[];
  /** Resolves with the exit code. */
  run(input: CommandInput): Promise<number>;
};

export type CommandInput = {
  positionals: readonly string[];
  /** Options that take a value, by name. */
  text: Readonly<Record<string, string>>;
  /** Options without a value that were given. */
  switches: ReadonlySet<string>;
  asJson: boolean;
  terminal: Terminal;
  environment: Environment;
};

const EVERYWHERE: Readonly<Record<string, OptionSpec>> = {
  json: { summary: "print the result as JSON" },
  help: { summary: "show this help" },
};

function optionsOf(command: Command): Readonly<Record<string, OptionSpec>> {
  return { ...command.options, ...EVERYWHERE };
}

/** What was typed behind the command's name. Throws UsageRefused on whatever the command does not take. */
export function parseInput(command: Command, words: readonly string[]): Omit<CommandInput, "terminal" | "environment"> {
  const specs = optionsOf(command);
  const { tokens } = parseArgs({
    args: [...words],
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
  const text: Record<string, string> = {};
  const switches = new Set<string>();
  const positionals: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) {
      const behind = tokens[index + 1];
      const typed = token.value ?? (behind?.kind === "positional" ? behind.value : "");
      throw unknownOption(command, token, typed);
    }
    if (spec.value === undefined) {
      if (token.value !== undefined) throw new UsageRefused(`--${token.name} takes no value.`);
      switches.add(token.name);
    } else if (token.value === undefined || token.value === "") {
      throw new UsageRefused(`--${token.name} needs a value: --${token.name} ${spec.value}.`);
    } else if (Object.hasOwn(text, token.name)) {
      throw new UsageRefused(`--${token.name} was given twice.`);
    } else text[token.name] = token.value;
  }
  if (!switches.has("help")) checkPositionals(command, positionals);
  return { positionals, text, switches, asJson: switches.has("json") };
}

function unknownOption(command: Command, token: { name: string; rawName: string }, typed: string): UsageRefused {
  const { elsewhere = {} } = command;
  const meant = nearest(token.name, Object.keys(optionsOf(command)));
  const suggested = meant === undefined ? "" : ` Did you mean --${meant}?`;
  const place = Object.hasOwn(elsewhere, token.name) ? elsewhere[token.name]?.(typed) : undefined;
  return new UsageRefused(`The option ${token.rawName} is not known.${place === undefined ? suggested : ` ${place}`}`);
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const missing = command.positionals.find((positional, index) => given[index] === undefined && !positional.isOptional);
  if (missing !== undefined) throw new UsageRefused(`<${missing.name}> is missing: ${missing.summary}.`);
  const extra = given[command.positionals.length];
  if (extra !== undefined) throw new UsageRefused(`${JSON.stringify(extra)} is one argument too many.`);
}

/** The help of one command: how it is typed, its options, and an example to copy. */
export function helpOf(command: Command, terminal: Terminal): string[] {
  const synopsis = command.positionals.map(({ name, isOptional }) => (isOptional ? `[<${name}>]` : `<${name}>`));
  const specs = Object.entries(optionsOf(command)).map(([name, { value, summary }]): [string, string] => [
    `--${name}${value === undefined ? "" : ` ${value}`}`,
    summary,
  ]);
  const described = command.positionals.map(({ name, summary }): [string, string] => [`<${name}>`, summary]);
  const width = Math.max(...[...described, ...specs].map(([left]) => left.length));
  const lines = (rows: readonly [string, string][]) => rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
  return [
    `${command.summary}.`,
    "",
    `${terminal.paint("bold", "Usage:")} ${["tributary", command.name, ...synopsis, "[options]"].join(" ")}`,
    "",
    ...(described.length === 0 ? [] : [...lines(described), ""]),
    terminal.paint("bold", "Options:"),
    ...lines(specs),
    "",
    terminal.paint("bold", command.examples.length === 1 ? "Example:" : "Examples:"),
    ...command.examples.map((example) => `  ${example}`),
  ];
}
