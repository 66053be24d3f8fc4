import type { IncomingMessage } from "node:http";
import { Fault } from "../../kernel/faults.ts";

/** Counted on the wire. */
const BODY_BYTES_MAX = 65_536;

/** The body's bytes, none of which is read where Content-Length says already that there are too many. Throws payload_too_large. */
export async function readBody(request: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
  if (!hasBody(request)) return Buffer.alloc(0);
  if (request.destroyed) throw bodyTruncated();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let byteCount = 0;
  const onData = (chunk: Buffer) => {
    byteCount += chunk.length;
    if (byteCount > bytesMax) reject(bodyTooLarge(bytesMax));
    else chunks.push(chunk);
  };
  const onEnd = () => resolve(Buffer.concat(chunks));
  // A request closes behind its end as well, before whoever waits here runs.
  const onClose = () => {
    if (!request.readableEnded) reject(bodyTruncated());
  };
  request.on("data", onData).once("end", onEnd).once("error", onClose).once("close", onClose);
  try {
    return await promise;
  } finally {
    request.pause();
    request.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
  }
}

function bodyTooLarge(bytesMax: number): Fault {
  return new Fault("payload_too_large", { message: `The body is larger than ${bytesMax / 1_024} KiB.` });
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

// A client that goes away in the middle reads no answer; the fault only ends the call.
function bodyTruncated(): Fault {
  return new Fault("invalid_request", { message: "The body ended early." });
}
