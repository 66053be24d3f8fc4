import { ChainMismatch } from "../chain/providers.ts";
import type { ProcessEnvironment } from "../config/config.ts";
import { DatabaseUnusable } from "../db/errors.ts";
import { DirectoryInUse } from "../db/pglite/directoryLock.ts";
import { Fault } from "../kernel/faults.ts";
import { closestMatch } from "../kernel/text/closestMatch.ts";
import { COMMANDS } from "./commands.ts";
import { renderHelp, parseInput, type Command } from "./command.ts";
import { CommandError, UsageError } from "../operator/errors.ts";
import { ConfigError } from "../config/section.ts";
import { productVersion } from "../config/operate/productVersion.ts";
import { openTerminal, toJson, type Stream, type Terminal } from "../operator/process/terminal.ts";

// Finds and runs the command. What takes long to load loads when a command runs, so that help starts fast.

const HELP = ["help", "--help", "-h"];
const VERSION = ["version", "--version", "-v"];

export type CliProcess = { out: Stream; error: Stream; environment: ProcessEnvironment };

/** Runs one command to its end and returns the exit code. */
export async function runCli(args: readonly string[], { out, error, environment }: CliProcess): Promise<number> {
  const terminal = openTerminal({ out, error }, environment);
  const asJson = args.includes("--json");
  try {
    return await dispatch(args, { terminal, environment });
  } catch (failure) {
    return reportError(failure, terminal, asJson);
  }
}

type CliContext = { terminal: Terminal; environment: ProcessEnvironment };

async function dispatch(args: readonly string[], { terminal, environment }: CliContext): Promise<number> {
  const [first, second] = args;
  if (first === "help" && second !== undefined && !second.startsWith("-"))
    return dispatch([...args.slice(1), "--help"], { terminal, environment });
  if (first === undefined || HELP.includes(first)) {
    for (const line of renderOverview(terminal)) terminal.out(line);
    return first === undefined ? 2 : 0;
  }
  if (VERSION.includes(first)) {
    const version = productVersion();
    terminal.out(args.includes("--json") ? toJson({ version }) : version);
    return 0;
  }
  const command = findCommand(args);
  if (command === undefined) return suggestCommands(args, terminal);
  const input = parseInput(command, args.slice(command.name.split(" ").length));
  if (input.flags.has("help")) {
    for (const line of renderHelp(command, terminal)) terminal.out(line);
    return 0;
  }
  return command.run({ ...input, terminal, environment });
}

function findCommand(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name.split(" ").every((word, index) => args[index] === word));
}

/** Lists the commands of a group. For any other unknown name, throws UsageError with the closest command. */
function suggestCommands(args: readonly string[], terminal: Terminal): number {
  const [first = "", second] = args;
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  const firstOption = args.findIndex((word) => word.startsWith("-"));
  const named = args.slice(0, firstOption < 0 ? args.length : firstOption).join(" ");
  const inside = COMMANDS.filter(({ name }) => name.startsWith(`${named} `));
  if (inside.length > 0) {
    for (const line of commandLines(inside)) terminal.out(line);
    return args.includes("--help") || args.includes("-h") ? 0 : 2;
  }
  const hasThreeWords = COMMANDS.some(({ name }) => name.startsWith(`${first} ${second} `));
  const typed =
    named
      .split(" ")
      .slice(0, hasThreeWords ? 3 : 2)
      .join(" ") || first;
  const groups = COMMANDS.map(({ name }) => name.split(" ")[0] ?? name);
  const suggestion =
    closestMatch(
      typed,
      COMMANDS.map(({ name }) => name),
    ) ?? (group.length > 0 ? undefined : closestMatch(first, groups));
  const remedy =
    suggestion === undefined ? "`tributary --help` lists the commands." : `Did you mean ${JSON.stringify(suggestion)}?`;
  throw new UsageError(`Unknown command ${JSON.stringify(typed)}. ${remedy}`);
}

function renderOverview(terminal: Terminal): string[] {
  return [
    `${terminal.paint("bold", "tributary")}: stablecoin payments from many chains, paid out on one.`,
    "",
    `${terminal.paint("bold", "Usage:")} tributary <command> [options]`,
    "",
    ...commandLines(COMMANDS),
    "",
    "`tributary <command> --help` shows its options and examples, `tributary --version` the version.",
  ];
}

function commandLines(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
}

/** Prints the error and returns the exit code: 2 for wrong usage or configuration, 1 for everything else. */
function reportError(error: unknown, terminal: Terminal, asJson: boolean): number {
  const isInvalidInput = error instanceof Fault && error.code === "invalid_request";
  const isUsage = error instanceof UsageError || error instanceof ConfigError || isInvalidInput;
  const message = isExpected(error)
    ? nameOption(error)
    : isAccessDenied(error)
      ? `${error.message}. Run the command as the user of the service, or give it access.`
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  if (asJson) terminal.note(toJson({ error: { message } }));
  else terminal.note(`${terminal.paint("red", "error:")} ${message}`);
  return isUsage ? 2 : 1;
}

/** The options that set the fields of faults. */
const OPTION_OF_PARAM: Readonly<Record<string, string>> = {
  "payout.wallet": "--wallet",
  "payout.currency": "--currency",
  "payout.chainReference": "--chain",
  feeBps: "--fee-bps",
  underpayToleranceBps: "--underpay-tolerance-bps",
  recovery: "--recovery",
  solanaRecovery: "--solana-recovery",
  origins: "--origins",
};

/** A fault's message begins with its field; the user typed an option. */
function nameOption(error: Error): string {
  const { message } = error;
  const param = error instanceof Fault ? error.param : undefined;
  const option = param === undefined ? undefined : OPTION_OF_PARAM[param];
  if (param === undefined || option === undefined || !message.startsWith(param)) return message;
  return `${option}${message.slice(param.length)}`;
}

/** A file or folder that belongs to another user. */
function isAccessDenied(error: unknown): error is Error {
  return error instanceof Error && "code" in error && ["EACCES", "EPERM", "EROFS"].includes(String(error.code));
}

function isExpected(error: unknown): error is Error {
  const kinds = [UsageError, ConfigError, CommandError, ChainMismatch, DatabaseUnusable, DirectoryInUse, Fault];
  return kinds.some((kind) => error instanceof kind);
}
