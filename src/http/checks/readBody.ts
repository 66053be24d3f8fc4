import type { IncomingMessage } from "node:http";
import { Fault } from "../../kernel/faults.ts";

/** Of the encoded body. */
export const BODY_BYTES_MAX = 65_536;
const EMPTY_BODY = Buffer.alloc(0);

/** Reads the body's bytes. Throws payload_too_large, before reading when Content-Length already exceeds the limit. */
export async function readBody(request: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
  if (!hasBody(request)) return EMPTY_BODY;
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
  // "close" also follows "end", but only after the promise has resolved.
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

// A client that disconnects reads no response; the fault only ends the request.
function bodyTruncated(): Fault {
  return new Fault("invalid_request", { message: "The body ended early." });
}
