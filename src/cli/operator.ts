import type { World } from "../world.ts";
import { CommandFailed, type CommandInput, type OptionSpec } from "./command.ts";
import { ConfigRefused } from "./config/section.ts";
import { findRunning, knock } from "./door/knock.ts";

// How a command reaches the world: through the process that runs, or by opening the database itself.

/** For every command that works through `openOperator`. */
export const CONFIG_OPTION: Readonly<Record<string, OptionSpec>> = {
  config: { value: "FILE", summary: "open the database of this configuration instead of asking the process that runs" },
};

export type Operator = { ask(operation: string, input: unknown): Promise<unknown>; close(): Promise<void> };

/** `changesNothing`: not even the schema of a database that an older program has left. */
export type OperatorOptions = { changesNothing?: boolean };

/** The process that runs beside the command; with --config or TRIBUTARY_CONFIG, the database that the file names. */
export async function openOperator(
  { text, environment, terminal }: CommandInput,
  { changesNothing = false }: OperatorOptions = {},
): Promise<Operator> {
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
  // Loaded only here: a command that asks the running process needs neither database nor chains.
  const [{ loadConfig }, { openWorld }, { perform }, { openReadableLog }, { endFatally }] = await Promise.all([
    import("./config/file.ts"),
    import("../main.ts"),
    import("./operations/perform.ts"),
    import("./logs.ts"),
    import("./run.ts"),
  ]);
  const log = openReadableLog("warn", terminal);
  const world = await openWorld(loadConfig(file, environment), { log, onFatal: endFatally(log), changesNothing });
  if (changesNothing) await refusePending(world);
  return { ask: (operation, input) => perform(world, operation, input), close: () => world.db.close() };
}

/** Where the configuration is, for commands that cannot do without one. */
export function configFileOf({ text, environment }: Pick<CommandInput, "text" | "environment">): string {
  const file = text["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined)
    throw new ConfigRefused("config: no configuration file is named, give one with --config or in TRIBUTARY_CONFIG.");
  return file;
}

async function refusePending({ db }: World): Promise<void> {
  const { pendingMigrations } = await import("../db/migrate.ts");
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return;
  await db.close();
  throw new CommandFailed(
    `The database has not the schema of this program yet (${pending.join(", ")}), and this command changes nothing: start the service once.`,
  );
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
