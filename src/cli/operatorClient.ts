import type { World } from "../world.ts";
import type { CommandInput, OptionSpec } from "./command.ts";
import { CommandError } from "../operator/errors.ts";
import { ConfigError } from "../config/section.ts";
import { findRunningProcess, callControl } from "../operator/control/callControl.ts";

// How a command reaches the world: through the process that runs, or by opening the database itself.

/** For every command that works through `openOperatorClient`. */
export const CONFIG_OPTION: Readonly<Record<string, OptionSpec>> = {
  config: { value: "FILE", summary: "open the database of this configuration instead of asking the process that runs" },
};

export type OperatorClient = { call(operation: string, input: unknown): Promise<unknown>; close(): Promise<void> };

/** `changesNothing`: not even the schema of a database that an older program has left. */
export type OperatorClientOptions = { isReadOnly?: boolean };

/** The process that runs beside the command; with --config or TRIBUTARY_CONFIG, the database that the file names. */
export async function openOperatorClient(
  { values, environment, terminal }: CommandInput,
  { isReadOnly = false }: OperatorClientOptions = {},
): Promise<OperatorClient> {
  const file = values["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined) {
    const running = await findRunningProcess(environment);
    if (running === undefined) {
      throw new CommandError(
        "Nothing runs here. Start `tributary dev` or `tributary serve`, or name a configuration with --config.",
      );
    }
    return { call: (operation, input) => callControl(running, operation, input), close: async () => {} };
  }
  // Loaded only here: a command that asks the running process needs neither database nor chains.
  const [{ loadConfig }, { openWorld }, { runOperation }, { openReadableLog }, { exitOnFatal }] = await Promise.all([
    import("../config/loadConfig.ts"),
    import("../main.ts"),
    import("../operator/runOperation.ts"),
    import("../operator/process/logs.ts"),
    import("../operator/process/shutdown.ts"),
  ]);
  const log = openReadableLog("warn", terminal);
  const world = await openWorld(loadConfig(file, environment), {
    log,
    onFatal: exitOnFatal(log),
    readOnly: isReadOnly,
  });
  if (isReadOnly) await requireMigrated(world);
  return { call: (operation, input) => runOperation(world, operation, input), close: () => world.db.close() };
}

/** Where the configuration is, for commands that cannot do without one. */
export function resolveConfigFile({ values, environment }: Pick<CommandInput, "values" | "environment">): string {
  const file = values["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined)
    throw new ConfigError("config: no configuration file is named, give one with --config or in TRIBUTARY_CONFIG.");
  return file;
}

async function requireMigrated({ db }: World): Promise<void> {
  const { pendingMigrations } = await import("../db/migrate.ts");
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return;
  await db.close();
  throw new CommandError(
    `The database has not the schema of this program yet (${pending.join(", ")}), and this command changes nothing: start the service once.`,
  );
}

/** Asks one thing and lets go of the world. */
export async function callOnce(input: CommandInput, operation: string, operationInput: unknown): Promise<unknown> {
  const operator = await openOperatorClient(input);
  try {
    return await operator.call(operation, operationInput);
  } finally {
    await operator.close();
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
