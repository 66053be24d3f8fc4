import type { Socket } from "node:net";

// Beside a running process, a command asks one question and gets one answer, each a line of JSON.

export type ControlRequest = { token: string; operation: string; input: unknown };
export type ControlResponse = { output: unknown } | { failure: { code: string; message: string } };

const LINE_BYTES_MAX = 4_194_304;

/**
 * The first line that comes in on `socket`.
 * @throws Error when the other side ends, fails, stays silent for the socket's timeout, or sends more than a line may hold.
 */
export function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    socket.on("data", (chunk: Buffer) => {
      const end = chunk.indexOf("\n");
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      length += chunk.length;
      if (end >= 0) resolve(Buffer.concat(chunks).toString("utf8"));
      else if (length > LINE_BYTES_MAX) reject(new Error("the line is too long"));
    });
    socket.once("error", reject);
    socket.once("timeout", () => reject(new Error("the other side stays silent")));
    socket.once("close", () => reject(new Error("the other side has closed the connection")));
  });
}
