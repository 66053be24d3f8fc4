import type { IncomingMessage } from "node:http";
import type { Clock } from "../kernel/clock.ts";
import { hasBody } from "./checks/size.ts";

const BYTES_MAX = 33_554_432;
const TIMEOUT_MS = 5_000;

/**
 * Reads and forgets what is left of a body that is answered before its end, up to 32 MiB or 5 seconds, and resolves when that is
 * done; the connection is closed when there is more. Undefined where nothing is left.
 */
export function discardBody(clock: Pick<Clock, "sleep">, request: IncomingMessage): Promise<void> | undefined {
  if (!hasBody(request) || request.complete || request.readableEnded || request.destroyed) return undefined;
  const done = new AbortController();
  let byteCount = 0;
  request.on("data", (chunk: Buffer) => {
    byteCount += chunk.length;
    if (byteCount > BYTES_MAX) done.abort();
  });
  request.once("end", () => done.abort()).once("close", () => done.abort());
  request.resume();
  return clock.sleep(TIMEOUT_MS, done.signal).then(() => {
    if (!request.complete && !request.readableEnded) request.destroy();
  });
}
