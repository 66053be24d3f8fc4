import { createHash } from "node:crypto";

/**
 * A request that may be repeated. The same account, operation and key identify one request, if the request hash matches
 * too.
 */
export type IdempotentRequest = {
  accountId: string;
  operation: string;
  /** Chosen by the caller. */
  key: string;
  /** SHA-256 of the request's contents, by `hashRequest`. */
  requestHash: Uint8Array;
};

/** SHA-256 of a JSON value, independent of key order and number notation. */
export function hashRequest(request: unknown): Uint8Array {
  return new Uint8Array(createHash("sha256").update(canonicalJson(request)).digest());
}

/** The key of the request's advisory lock. Two requests with the same lock key only wait for each other. */
export function advisoryLockKey({ accountId, operation, key }: Omit<IdempotentRequest, "requestHash">): bigint {
  const text = JSON.stringify([accountId, operation, key]);
  return createHash("sha256").update(`idempotency ${text}`).digest().readBigInt64BE();
}

// The value's depth is bounded, because the body parser limits it.
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join()}}`;
}
