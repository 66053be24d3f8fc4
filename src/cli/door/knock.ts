import { connect } from "node:net";
import type { Environment } from "../../config.ts";
import { CommandFailed } from "../command.ts";
import { homeOf, readRunning, type Running } from "../home.ts";
import { readLine, type Answer, type Question } from "./line.ts";

const ANSWER_MS_MAX = 120_000;

/** The process that runs beside this command: the dev world before a server. A file whose process is gone counts as none. */
export async function findRunning(environment: Environment): Promise<Running | undefined> {
  const home = homeOf(environment);
  for (const kind of ["dev", "serve"] as const) {
    const running = readRunning(home, kind);
    if (running !== undefined && (await isListening(running.socketPath))) return running;
  }
  return undefined;
}

/**
 * Has the running process do one operation and returns its output.
 * @throws CommandFailed with the process's own words when it refuses.
 */
export async function knock(running: Running, operation: string, input: unknown): Promise<unknown> {
  const socket = connect(running.socketPath);
  socket.setTimeout(ANSWER_MS_MAX);
  try {
    const reading = readLine(socket);
    const question: Question = { token: running.token, operation, input };
    socket.write(`${JSON.stringify(question)}\n`);
    const answer = JSON.parse(await reading) as Answer;
    if ("failure" in answer) throw new CommandFailed(answer.failure.message);
    return answer.output;
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
