import { timingSafeEqual } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { Logger } from "pino";
import { Fault } from "../../kernel/faults.ts";
import { CommandFailed } from "../command.ts";
import { toJson } from "../terminal.ts";
import { readLine, type Answer, type Question } from "./line.ts";

export type Door = { close(): Promise<void> };

type DoorOptions = {
  socketPath: string;
  token: string;
  /** Does what was asked for; CommandFailed and Fault are told to the asker, anything else only that it failed. */
  perform: (operation: string, input: unknown) => Promise<unknown>;
  log: Logger;
};

const CONNECTIONS_MAX = 16;
const QUESTION_MS_MAX = 10_000;

/** Listens for commands of this user on a Unix socket that only this user can open. */
export async function openDoor(options: DoorOptions): Promise<Door> {
  // A process that was killed leaves its socket file behind, and a name is free only when no file has it.
  rmSync(options.socketPath, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.setTimeout(QUESTION_MS_MAX);
    void serve(socket, options);
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
        for (const socket of open) socket.destroy();
      }),
  };
}

async function serve(socket: Socket, options: DoorOptions): Promise<void> {
  socket.on("error", () => socket.destroy());
  try {
    const line = await readLine(socket);
    // The work itself may take its time; only the question must come quickly.
    socket.setTimeout(0);
    socket.end(`${toJson(await answer(line, options))}\n`);
  } catch {
    socket.destroy();
  }
}

async function answer(line: string, { token, perform, log }: DoorOptions): Promise<Answer> {
  const question = parseQuestion(line);
  if (question === undefined) return failure("invalid_question", "The question is not one.");
  if (!isSame(question.token, token)) return failure("unauthorized", "This is not the operator's token.");
  try {
    return { output: await perform(question.operation, question.input) };
  } catch (error) {
    if (error instanceof Fault) return failure(error.code, error.message);
    if (error instanceof CommandFailed) return failure("failed", error.message);
    log.error({ err: error, operation: question.operation }, "an operator's command failed");
    return failure("internal_error", "It failed; the log of the running process says why.");
  }
}

function failure(code: string, message: string): Answer {
  return { failure: { code, message } };
}

function parseQuestion(line: string): Question | undefined {
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

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
