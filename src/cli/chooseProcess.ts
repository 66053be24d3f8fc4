import type { ProcessEnvironment } from "../config/config.ts";
import { CommandError } from "../operator/errors.ts";
import { listRunningProcesses } from "../operator/control/callControl.ts";
import type { RunningProcess } from "../operator/control/home.ts";
import type { Terminal } from "../operator/process/terminal.ts";
import type { OptionSpec } from "./command.ts";

// Which of the running services of this user a command means.

/** The option of every command that uses a running service. */
export const SERVICE_OPTION: Readonly<Record<string, OptionSpec>> = {
  service: { value: "URL", summary: "of several running services, the one at this address" },
};

export type ChoiceInput = {
  values: Readonly<Record<string, string | undefined>>;
  environment: ProcessEnvironment;
  terminal: Pick<Terminal, "note">;
};

/** `isSure`: it is the only one, or the one that was named. */
export type ChosenProcess = { running: RunningProcess; isSure: boolean };

/**
 * The service that --service names, else the only one, else the newest, which is said. Undefined when none runs. Throws
 * CommandError when none runs at the named address.
 */
export async function chooseProcess({
  values,
  environment,
  terminal,
}: ChoiceInput): Promise<ChosenProcess | undefined> {
  const found = await listRunningProcesses(environment);
  const wanted = values["service"]?.replace(/\/$/, "");
  if (wanted !== undefined) {
    const named = found.find(({ baseUrl }) => baseUrl === wanted);
    if (named === undefined)
      throw new CommandError(`No service of this user runs at ${wanted}. ${describeRunning(found)}`);
    return { running: named, isSure: true };
  }
  const [newest, ...others] = found;
  if (newest === undefined) return undefined;
  if (others.length > 0)
    terminal.note(
      `The service at ${newest.baseUrl} answers, the newest. --service chooses another: ${listUrls(others)}.`,
    );
  return { running: newest, isSure: others.length === 0 };
}

/** As chooseProcess, for what changes something: throws CommandError when several run and none was named. */
export async function chooseProcessToWrite(input: ChoiceInput): Promise<RunningProcess | undefined> {
  const silent = { ...input, terminal: { note: () => undefined } };
  const chosen = await chooseProcess(silent);
  if (chosen?.isSure === false) throw await severalRun(input.environment);
  return chosen?.running;
}

export async function severalRun(environment: ProcessEnvironment): Promise<CommandError> {
  const found = await listRunningProcesses(environment);
  return new CommandError(
    `Several services run, and this changes something: name one in --service. ${describeRunning(found)}`,
  );
}

function describeRunning(found: readonly RunningProcess[]): string {
  if (found.length === 0) return "None runs.";
  return `${found.length === 1 ? "There is" : "There are"} ${listUrls(found)}.`;
}

function listUrls(found: readonly RunningProcess[]): string {
  return found.map(({ baseUrl }) => baseUrl).join(", ");
}
