import type { IncomingMessage } from "node:http";
import type { Clock } from "../kernel/clock.ts";
import { hasBody } from "./checks/size.ts";

const BYTES_MAX = 33_554_432;
const TIMEOUT_MS = 5_000;

/**
 * Reads and forgets what is left of a body that was answered before its end: a client that is still sending would see a broken
 * connection instead of the answer. Up to 32 MiB or 5 seconds; then the connection is closed.
 */
export function discardBody(clock: Pick<Clock, "sleep">, request: IncomingMessage): void {
  if (!hasBody(request) || request.complete || request.destroyed) return;
  const done = new AbortController();
  let byteCount = 0;
  request.on("data", (chunk: Buffer) => {
    byteCount += chunk.length;
    if (byteCount > BYTES_MAX) request.destroy();
  });
  request.once("end", () => done.abort()).once("close", () => done.abort());
  request.resume();
  void clock.sleep(TIMEOUT_MS, done.signal).then(() => {
    if (!request.complete) request.destroy();
  });
}
