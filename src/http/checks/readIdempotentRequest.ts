import type { IncomingMessage } from "node:http";
import { hashRequest, type IdempotentRequest } from "../../idempotency/idempotentRequest.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Operation } from "../operation.ts";
import { readHeaderValues } from "./readHeaderValues.ts";

const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

export type RequestIdentity = { accountId: string; id: string; body: unknown };

/**
 * Identifies the request by its Idempotency-Key; undefined when the operation takes none or the caller sent none.
 * Throws invalid_request for two keys, or for a key outside 1 to 255 printable ASCII characters.
 */
export function readIdempotentRequest(
  operation: Operation,
  request: IncomingMessage,
  identity: RequestIdentity,
): IdempotentRequest | undefined {
  if (operation.acceptsIdempotencyKey !== true) return undefined;
  const [key, ...others] = readHeaderValues(request, "idempotency-key");
  if (key === undefined) return undefined;
  if (others.length > 0) throw invalidKey("must be given once");
  if (!KEY_PATTERN.test(key)) throw invalidKey("must have 1 to 255 printable ASCII characters");
  const { accountId, id, body } = identity;
  const requestHash = hashRequest({ id, body: omitNulls(body) });
  return { accountId, operation: operation.operationId, key, requestHash };
}

/** Drops null fields, because a null field means the same as a missing one. */
function omitNulls(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function invalidKey(must: string): Fault {
  return new Fault("invalid_request", { param: "Idempotency-Key", message: `Idempotency-Key ${must}.` });
}
