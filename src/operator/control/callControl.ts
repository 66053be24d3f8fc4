import { connect } from "node:net";
import type { ProcessEnvironment } from "../../config/config.ts";
import { Fault } from "../../kernel/faults.ts";
import { CommandError, UsageError } from "../errors.ts";
import type { OperationName, OperationOutput } from "../runOperation.ts";
import { resolveHome, readRunFiles, type RunningProcess } from "./home.ts";
import {
  readLine,
  USAGE_FAILURE,
  type ControlFailure,
  type ControlResponse,
  type ControlRequest,
} from "./controlProtocol.ts";

const RESPONSE_MS_MAX = 120_000;

/** The processes of this user that answer, the newest first. */
export async function listRunningProcesses(environment: ProcessEnvironment): Promise<RunningProcess[]> {
  const found: RunningProcess[] = [];
  for (const running of readRunFiles(resolveHome(environment)))
    if (await isListening(running.socketPath)) found.push(running);
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
    if ("failure" in response) throw toError(response.failure, running.baseUrl);
    return response.output;
  } finally {
    socket.destroy();
  }
}

function toError({ code, message, param }: ControlFailure, baseUrl: string): Error {
  if (code === USAGE_FAILURE) return new UsageError(message);
  if (code === "invalid_request")
    return new Fault("invalid_request", { message, ...(param === undefined ? {} : { param }) });
  // It may exist in another service.
  if (code === "not_found") return new CommandError(message.replace(/\.$/, ` at ${baseUrl}.`));
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
