import type { World } from "../world.ts";
import { CommandFailed, type CommandInput, type OptionSpec } from "./command.ts";
import { loadConfig } from "./config/file.ts";
import { ConfigRefused } from "./config/section.ts";
import { findRunning, knock } from "./door/knock.ts";
import { openDoor, type Door } from "./door/open.ts";
import { readRunning, removeDeadSockets, removeRunning, socketPathOf, writeRunning, type RunningKind } from "./home.ts";
import { openReadableLog } from "./logs.ts";
import { createAccount, listAccounts } from "./operations/accounts.ts";
import { listEvents } from "./operations/events.ts";
import { listIntents, showIntent } from "./operations/intents.ts";
import { createKey, listKeys, revokeKey } from "./operations/keys.ts";
import { openWorld } from "../main.ts";
import { endFatally } from "./run.ts";
import process from "node:process";

// What an operator may do, by name. The same table serves a command that opens the world itself and one that asks the process
// that runs already.

type Operation = (world: World, input: unknown) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "accounts create": createAccount,
  "accounts list": listAccounts,
  "keys create": createKey,
  "keys list": listKeys,
  "keys revoke": revokeKey,
  "intents list": listIntents,
  "intents show": showIntent,
  "events list": listEvents,
};

async function perform(world: World, operation: string, input: unknown): Promise<unknown> {
  const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  if (run === undefined)
    throw new CommandFailed(
      `The running process knows no operation ${JSON.stringify(operation)}: is it of another version?`,
    );
  return run(world, input);
}

const TOKEN_BYTES = 32;

/** Lets the commands of this user in, and leaves word where they find the door. */
export async function openOperatorDoor(
  world: World,
  { home, kind, ready }: { home: string; kind: RunningKind; ready: unknown },
): Promise<Door> {
  removeDeadSockets(home);
  const socketPath = socketPathOf(home, process.pid);
  const token = Buffer.from(world.entropy.bytes(TOKEN_BYTES)).toString("base64url");
  const door = await openDoor({
    socketPath,
    token,
    perform: (operation, input) => perform(world, operation, input),
    log: world.log,
  });
  const before = readRunning(home, kind);
  writeRunning(home, kind, { pid: process.pid, socketPath, token, baseUrl: world.config.baseUrl, ready });
  return {
    async close() {
      removeRunning(home, kind, { pid: process.pid, before });
      await door.close();
    },
  };
}

/** For every command that works through `openOperator`. */
export const CONFIG_OPTION: Readonly<Record<string, OptionSpec>> = {
  config: { value: "FILE", summary: "open the database of this configuration instead of asking the process that runs" },
};

export type Operator = { ask(operation: string, input: unknown): Promise<unknown>; close(): Promise<void> };

/** The process that runs beside the command; with --config or TRIBUTARY_CONFIG, the database that the file names. */
export async function openOperator({ text, environment, terminal }: CommandInput): Promise<Operator> {
  const file = text["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined) {
    const running = await findRunning(environment);
    if (running === undefined) {
      throw new CommandFailed(
        "Nothing runs here. Start `tributary dev` or `tributary serve`, or name a configuration with --config.",
      );
    }
    return { ask: (operation, input) => knock(running, operation, input), close: async () => {} };
  }
  const log = openReadableLog("warn", terminal);
  const world = await openWorld(loadConfig(file, environment), { log, onFatal: endFatally(log) });
  return { ask: (operation, input) => perform(world, operation, input), close: () => world.db.close() };
}

/** Where the configuration is, for commands that cannot do without one. */
export function configFileOf({ text, environment }: Pick<CommandInput, "text" | "environment">): string {
  const file = text["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined)
    throw new ConfigRefused("config: no configuration file is named, give one with --config or in TRIBUTARY_CONFIG.");
  return file;
}

/** Asks one thing and lets go of the world. */
export async function askOnce(input: CommandInput, operation: string, question: unknown): Promise<unknown> {
  const operator = await openOperator(input);
  try {
    return await operator.ask(operation, question);
  } finally {
    await operator.close();
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
