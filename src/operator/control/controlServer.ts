import { timingSafeEqual } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { Logger } from "pino";
import { Fault } from "../../kernel/faults.ts";
import { CommandError, UsageError } from "../errors.ts";
import { toJson } from "../process/terminal.ts";
import { readLine, USAGE_FAILURE, type ControlResponse, type ControlRequest } from "./controlProtocol.ts";

export type ControlServer = { close(): Promise<void> };

type ControlServerOptions = {
  socketPath: string;
  token: string;
  /**
   * Runs one operation. The client receives the message of a CommandError or Fault; other errors only go to the log.
   */
  runOperation: (operation: string, input: unknown) => Promise<unknown>;
  log: Logger;
};

const CONNECTIONS_MAX = 16;
const REQUEST_MS_MAX = 10_000;

/** Listens for commands on a Unix socket that only this user can open. */
export async function startControlServer(options: ControlServerOptions): Promise<ControlServer> {
  // A killed process leaves its socket file behind, and the file blocks the name.
  rmSync(options.socketPath, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.setTimeout(REQUEST_MS_MAX);
    void handleConnection(socket, options);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.socketPath, resolve);
  });
  chmodSync(options.socketPath, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function handleConnection(socket: Socket, options: ControlServerOptions): Promise<void> {
  socket.on("error", () => socket.destroy());
  try {
    const line = await readLine(socket);
    // The time limit is for the request only. An operation may take longer.
    socket.setTimeout(0);
    socket.end(`${toJson(await handleRequest(line, options))}\n`);
  } catch {
    socket.destroy();
  }
}

async function handleRequest(
  line: string,
  { token, runOperation, log }: ControlServerOptions,
): Promise<ControlResponse> {
  const request = parseRequest(line);
  if (request === undefined) return failureResponse("invalid_request", "The request is not valid.");
  if (!isEqualToken(request.token, token)) return failureResponse("unauthorized", "The control token is wrong.");
  try {
    return { output: await runOperation(request.operation, request.input) };
  } catch (error) {
    if (error instanceof Fault) return failureResponse(error.code, error.message, error.param);
    if (error instanceof UsageError) return failureResponse(USAGE_FAILURE, error.message);
    if (error instanceof CommandError) return failureResponse("failed", error.message);
    log.error({ err: error, operation: request.operation }, "operator command failed");
    return failureResponse("internal_error", "The operation failed: see the log of the running process.");
  }
}

function failureResponse(code: string, message: string, param?: string): ControlResponse {
  return { failure: { code, message, ...(param === undefined ? {} : { param }) } };
}

function parseRequest(line: string): ControlRequest | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    const token: unknown = Reflect.get(value, "token");
    const operation: unknown = Reflect.get(value, "operation");
    const input: unknown = Reflect.get(value, "input");
    return typeof token === "string" && typeof operation === "string" ? { token, operation, input } : undefined;
  } catch {
    return undefined;
  }
}

function isEqualToken(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
