import { connect } from "node:net";
import type { ProcessEnvironment } from "../../config/config.ts";
import { Fault } from "../../kernel/faults.ts";
import { CommandError, UsageError } from "../errors.ts";
import type { OperationName, OperationOutput } from "../runOperation.ts";
import { resolveHome, readRunFile, type RunningProcess } from "./home.ts";
import {
  readLine,
  USAGE_FAILURE,
  type ControlFailure,
  type ControlResponse,
  type ControlRequest,
} from "./controlProtocol.ts";

const RESPONSE_MS_MAX = 120_000;

/**
 * Finds the running process of this user: the dev world first, then the service. Ignores run files of ended processes.
 */
export async function findRunningProcess(environment: ProcessEnvironment): Promise<RunningProcess | undefined> {
  return (await listRunningProcesses(environment))[0];
}

/** All running processes of this user, in the order in which commands choose one. */
export async function listRunningProcesses(environment: ProcessEnvironment): Promise<RunningProcess[]> {
  const home = resolveHome(environment);
  const found: RunningProcess[] = [];
  for (const kind of ["dev", "serve"] as const) {
    const running = readRunFile(home, kind);
    if (running !== undefined && (await isListening(running.socketPath))) found.push(running);
  }
  return found;
}

/**
 * Runs one operation in the running process and returns its output.
 * @throws CommandError with the process's message when the operation fails.
 */
export async function callControl<Name extends OperationName>(
  running: RunningProcess,
  operation: Name,
  input: unknown,
): Promise<OperationOutput<Name>> {
  const socket = connect(running.socketPath);
  socket.setTimeout(RESPONSE_MS_MAX);
  try {
    const responseLine = readLine(socket);
    const request: ControlRequest = { token: running.token, operation, input };
    socket.write(`${JSON.stringify(request)}\n`);
    // The one place that trusts a type: a process of this release answers what the operation declares.
    const response = JSON.parse(await responseLine) as ControlResponse<OperationOutput<Name>>;
    if ("failure" in response) throw toError(response.failure);
    return response.output;
  } finally {
    socket.destroy();
  }
}

function toError({ code, message, param }: ControlFailure): Error {
  if (code === USAGE_FAILURE) return new UsageError(message);
  if (code === "invalid_request")
    return new Fault("invalid_request", { message, ...(param === undefined ? {} : { param }) });
  return new CommandError(message);
}

function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
