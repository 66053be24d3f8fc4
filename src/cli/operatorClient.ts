import type { CommandInput, OptionSpec } from "./command.ts";
import { CommandError } from "../operator/errors.ts";
import { ConfigError } from "../config/section.ts";
import type { OperationInput, OperationName, OperationOutput } from "../operator/runOperation.ts";
import { callControl } from "../operator/control/callControl.ts";
import { chooseProcess, severalRun, SERVICE_OPTION, type ChosenProcess } from "./chooseProcess.ts";

// Connects a command to the installation: through the running process, or directly to the database.

/** The option of every command that uses `openOperatorClient`. */
export const CONFIG_OPTION: Readonly<Record<string, OptionSpec>> = {
  config: { value: "FILE", summary: "open this configuration's database instead of using the running process" },
  ...SERVICE_OPTION,
};

/** Fields of an input as they were typed; the operation reads them. Null removes a value. */
export type TypedFields = Readonly<Record<string, string | boolean | null | undefined>>;

export type OperatorClient = {
  call<Name extends OperationName>(
    operation: Name,
    input: OperationInput<Name> | TypedFields,
  ): Promise<OperationOutput<Name>>;
  close(): Promise<void>;
};

/**
 * Connects to the database that --config or TRIBUTARY_CONFIG names, else to the running process.
 * @throws CommandError when no process runs, and DatabaseUnusable when the schema is outdated: only `serve`, `dev` and
 *   `migrate` change it.
 */
export async function openOperatorClient({ values, environment, terminal }: CommandInput): Promise<OperatorClient> {
  const file = values["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined) {
    const chosen = await chooseProcess({ values, environment, terminal });
    if (chosen === undefined) {
      throw new CommandError(
        "No running process was found. Start `tributary dev` or `tributary serve`, or name a configuration file in --config.",
      );
    }
    const { running, isSure } = chosen;
    return {
      call: (operation, input) =>
        refuseUnsureWrite(operation, { isSure, environment }).then(() => callControl(running, operation, input)),
      close: async () => {},
    };
  }
  // These load on demand: a command that uses the running process needs neither database nor chains.
  const [{ loadConfig }, { closeWorld, openWorld }, { runOperation }, { openReadableLog }, { exitOnFatal }] =
    await Promise.all([
      import("../config/loadConfig.ts"),
      import("../main.ts"),
      import("../operator/runOperation.ts"),
      import("../operator/process/logs.ts"),
      import("../operator/process/shutdown.ts"),
    ]);
  const log = openReadableLog("warn", terminal);
  const world = await openWorld(loadConfig(file, environment, { keys: "optional" }), {
    log,
    onFatal: exitOnFatal(log),
    schema: "require",
  });
  return { call: (operation, input) => runOperation(world, operation, input), close: () => closeWorld(world) };
}

/** Returns the path in --config or TRIBUTARY_CONFIG. Throws ConfigError when neither is set. */
export function resolveConfigFile({ values, environment }: Pick<CommandInput, "values" | "environment">): string {
  const file = values["config"] ?? nonEmpty(environment["TRIBUTARY_CONFIG"]);
  if (file === undefined)
    throw new ConfigError("config: missing; name the configuration file in --config or TRIBUTARY_CONFIG.");
  return file;
}

/** Connects, runs one operation and disconnects. */
export async function callOnce<Name extends OperationName>(
  input: CommandInput,
  operation: Name,
  fields: TypedFields,
): Promise<OperationOutput<Name>> {
  const operator = await openOperatorClient(input);
  try {
    return await operator.call(operation, fields);
  } finally {
    await operator.close();
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** Several services run, and none was named: a reading operation may take any of them, another one may not. */
async function refuseUnsureWrite(
  name: OperationName,
  { isSure, environment }: Pick<ChosenProcess, "isSure"> & Pick<CommandInput, "environment">,
): Promise<void> {
  if (isSure) return;
  const { OPERATOR_OPERATIONS } = await import("../operator/runOperation.ts");
  if (OPERATOR_OPERATIONS[name].effect === "write") throw await severalRun(environment);
}
