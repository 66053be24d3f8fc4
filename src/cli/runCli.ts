import { ChainMismatch } from "../chain/providers.ts";
import type { ProcessEnvironment } from "../config/config.ts";
import { DatabaseUnusable } from "../db/errors.ts";
import { DirectoryInUse } from "../db/pglite/directoryLock.ts";
import { Fault } from "../kernel/faults.ts";
import { closestMatch } from "../kernel/text/closestMatch.ts";
import { renderHelp, parseInput, type Command } from "./command.ts";
import { CommandError, UsageError } from "../operator/errors.ts";
import { ConfigError } from "../config/section.ts";
import { productVersion } from "../config/operate/productVersion.ts";
import { openTerminal, toJson, type Stream, type Terminal } from "../operator/process/terminal.ts";

// Finds and runs the command. Each command loads on demand, so that help and usage errors start fast.

type CommandEntry = { name: string; summary: string; load(): Promise<Command> };

const COMMANDS: readonly CommandEntry[] = [
  {
    name: "dev",
    summary: "start a local world: chains, tokens, merchants, API",
    load: async () => (await import("./service/dev.ts")).dev,
  },
  {
    name: "demo",
    summary: "run sample payments and check every amount on the chain",
    load: async () => (await import("./service/demo.ts")).demo,
  },
  {
    name: "pay",
    summary: "pay an intent and wait until its deposit counts",
    load: async () => (await import("./service/pay.ts")).pay,
  },
  {
    name: "init",
    summary: "ask for the settings and write a configuration file",
    load: async () => (await import("./init/init.ts")).init,
  },
  {
    name: "serve",
    summary: "run the service",
    load: async () => (await import("./service/serve.ts")).serve,
  },
  {
    name: "migrate",
    summary: "bring the schema of the database up to date",
    load: async () => (await import("./service/migrate.ts")).migrate,
  },
  {
    name: "accounts create",
    summary: "create a merchant account",
    load: async () => (await import("./merchants/accounts.ts")).accountsCreate,
  },
  {
    name: "accounts list",
    summary: "list the merchant accounts",
    load: async () => (await import("./merchants/accounts.ts")).accountsList,
  },
  {
    name: "accounts show",
    summary: "show one merchant account",
    load: async () => (await import("./merchants/accounts.ts")).accountsShow,
  },
  {
    name: "accounts update",
    summary: "change an account; existing intents keep what they pinned",
    load: async () => (await import("./merchants/accountsUpdate.ts")).accountsUpdate,
  },
  {
    name: "accounts brand",
    summary: "change how an account's checkout looks",
    load: async () => (await import("./merchants/accountsBrand.ts")).accountsBrand,
  },
  {
    name: "accounts suspend",
    summary: "reject all keys of an account",
    load: async () => (await import("./merchants/accounts.ts")).accountsSuspend,
  },
  {
    name: "accounts resume",
    summary: "accept the keys of a suspended account again",
    load: async () => (await import("./merchants/accounts.ts")).accountsResume,
  },
  {
    name: "accounts origins add",
    summary: "allow a website to embed an account's checkout",
    load: async () => (await import("./merchants/pageOrigins.ts")).pageOriginsAdd,
  },
  {
    name: "accounts origins remove",
    summary: "stop a website from embedding an account's checkout",
    load: async () => (await import("./merchants/pageOrigins.ts")).pageOriginsRemove,
  },
  {
    name: "accounts origins list",
    summary: "list the websites that may embed an account's checkout",
    load: async () => (await import("./merchants/pageOrigins.ts")).pageOriginsList,
  },
  {
    name: "keys create",
    summary: "create an API key and show it once",
    load: async () => (await import("./merchants/keys.ts")).keysCreate,
  },
  {
    name: "keys list",
    summary: "list API keys",
    load: async () => (await import("./merchants/keys.ts")).keysList,
  },
  {
    name: "keys rotate",
    summary: "replace an API key; both work for an overlap period",
    load: async () => (await import("./merchants/keys.ts")).keysRotate,
  },
  {
    name: "keys revoke",
    summary: "revoke an API key",
    load: async () => (await import("./merchants/keys.ts")).keysRevoke,
  },
  {
    name: "keys gas",
    summary: "make the key that pays gas, in a file",
    load: async () => (await import("./merchants/keysGas.ts")).keysGas,
  },
  {
    name: "origins list",
    summary: "list the origins and whether they get source inboxes",
    load: async () => (await import("./merchants/origins.ts")).originsList,
  },
  {
    name: "origins enable",
    summary: "issue source inboxes for an origin again",
    load: async () => (await import("./merchants/origins.ts")).originsEnable,
  },
  {
    name: "origins disable",
    summary: "stop issuing source inboxes for an origin",
    load: async () => (await import("./merchants/origins.ts")).originsDisable,
  },
  {
    name: "intents list",
    summary: "list payment intents, newest first",
    load: async () => (await import("./merchants/intents.ts")).intentsList,
  },
  {
    name: "intents show",
    summary: "show one payment intent with its deposits and settlements",
    load: async () => (await import("./merchants/intents.ts")).intentsShow,
  },
  {
    name: "intents archive",
    summary: "archive a payment intent and free its destination",
    load: async () => (await import("./merchants/intents.ts")).intentsArchive,
  },
  {
    name: "intents export",
    summary: "print the terms of all intents, for recovery without the service",
    load: async () => (await import("./merchants/intents.ts")).intentsExport,
  },
  {
    name: "events list",
    summary: "list the latest events",
    load: async () => (await import("./merchants/events.ts")).eventsList,
  },
  {
    name: "events tail",
    summary: "follow new events",
    load: async () => (await import("./merchants/events.ts")).eventsTail,
  },
  {
    name: "restore mark",
    summary: "tell the service that its database was restored",
    load: async () => (await import("./service/restoreMark.ts")).restoreMark,
  },
  {
    name: "rescan",
    summary: "read the chain again for an intent or a transaction",
    load: async () => (await import("./chains/rescan.ts")).rescan,
  },
  {
    name: "status",
    summary: "show alarms and what each chain has to do, as one table",
    load: async () => (await import("./service/status.ts")).status,
  },
  {
    name: "watch status",
    summary: "show the scan progress of each chain and its providers",
    load: async () => (await import("./chains/watch.ts")).watchStatus,
  },
  {
    name: "doctor",
    summary: "check chains, gas, sums and stuck payments",
    load: async () => (await import("./service/doctor.ts")).doctor,
  },
  {
    name: "verify",
    summary: "check offline that an inbox pays only your wallet",
    load: async () => (await import("./chains/verify.ts")).verify,
  },
  {
    name: "recover",
    summary: "move money out of inboxes without server and database",
    load: async () => (await import("./recover/recover.ts")).recover,
  },
  {
    name: "hub status",
    summary: "compare the inbox hub of each chain, and the program of Solana, with this release",
    load: async () => (await import("./chains/hub.ts")).hubStatus,
  },
  {
    name: "hub deploy",
    summary: "deploy the inbox hub on the configured chains, or the program of Solana",
    load: async () => (await import("./chains/hub.ts")).hubDeploy,
  },
  {
    name: "ledger export",
    summary: "write the ledger's entries as CSV or JSON lines",
    load: async () => (await import("./chains/ledger.ts")).ledgerExport,
  },
  {
    name: "ledger balances",
    summary: "show the balance of each ledger account",
    load: async () => (await import("./chains/ledger.ts")).ledgerBalances,
  },
];

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
  const entry = findEntry(args);
  if (entry === undefined) return suggestCommands(args, terminal);
  const command = await entry.load();
  const input = parseInput(command, args.slice(entry.name.split(" ").length));
  if (input.flags.has("help")) {
    for (const line of renderHelp(command, terminal)) terminal.out(line);
    return 0;
  }
  return command.run({ ...input, terminal, environment });
}

function findEntry(args: readonly string[]): CommandEntry | undefined {
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

function commandLines(entries: readonly CommandEntry[]): string[] {
  const width = Math.max(...entries.map(({ name }) => name.length));
  return entries.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
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
