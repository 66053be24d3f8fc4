import type { Socket } from "node:net";

// The protocol of the control socket: one request and one response for each connection, each one line of JSON.

export type ControlRequest = { token: string; operation: string; input: unknown };
/** `param`: the field of an invalid_request. */
export type ControlFailure = { code: string; message: string; param?: string };
export type ControlResponse<Output = unknown> = { output: Output } | { failure: ControlFailure };

/** The code of a UsageError. */
export const USAGE_FAILURE = "usage";

const LINE_BYTES_MAX = 4_194_304;

/**
 * Resolves with the first line that `socket` receives, without its line break.
 * @throws Error when the peer closes the connection, the socket times out, or the line exceeds LINE_BYTES_MAX.
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
    socket.once("timeout", () => reject(new Error("the peer did not answer in time")));
    socket.once("close", () => reject(new Error("the peer closed the connection")));
  });
}
