import type { IncomingMessage } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import { hasBody } from "../checks/readBody.ts";

const DRAIN_BYTES_MAX = 33_554_432;
const DRAIN_TIMEOUT_MS = 5_000;

/**
 * Reads and discards the rest of a body after an early response, up to 32 MiB or 5 seconds, and then resolves. The
 * connection closes when more remains. Returns undefined when nothing remains.
 */
export function drainBody(clock: Pick<Clock, "sleep">, request: IncomingMessage): Promise<void> | undefined {
  if (!hasBody(request) || request.complete || request.readableEnded || request.destroyed) return undefined;
  const done = new AbortController();
  let byteCount = 0;
  request.on("data", (chunk: Buffer) => {
    byteCount += chunk.length;
    if (byteCount > DRAIN_BYTES_MAX) done.abort();
  });
  request.once("end", () => done.abort()).once("close", () => done.abort());
  request.resume();
  return clock.sleep(DRAIN_TIMEOUT_MS, done.signal).then(() => {
    if (!request.complete && !request.readableEnded) request.destroy();
  });
}
