import { connect } from "node:net";
import type { ProcessEnvironment } from "../../config/config.ts";
import { CommandError } from "../errors.ts";
import { resolveHome, readRunFile, type RunningProcess } from "./home.ts";
import { readLine, type ControlResponse, type ControlRequest } from "./controlProtocol.ts";

const RESPONSE_MS_MAX = 120_000;

/** Finds the running process of this user: the dev world first, then the service. Ignores run files of ended processes. */
export async function findRunningProcess(environment: ProcessEnvironment): Promise<RunningProcess | undefined> {
  const home = resolveHome(environment);
  for (const kind of ["dev", "serve"] as const) {
    const running = readRunFile(home, kind);
    if (running !== undefined && (await isListening(running.socketPath))) return running;
  }
  return undefined;
}

/**
 * Runs one operation in the running process and returns its output.
 * @throws CommandError with the process's message when the operation fails.
 */
export async function callControl(running: RunningProcess, operation: string, input: unknown): Promise<unknown> {
  const socket = connect(running.socketPath);
  socket.setTimeout(RESPONSE_MS_MAX);
  try {
    const responseLine = readLine(socket);
    const request: ControlRequest = { token: running.token, operation, input };
    socket.write(`${JSON.stringify(request)}\n`);
    const response = JSON.parse(await responseLine) as ControlResponse;
    if ("failure" in response) throw new CommandError(response.failure.message);
    return response.output;
  } finally {
    socket.destroy();
  }
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
