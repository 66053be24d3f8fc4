import { createHash } from "node:crypto";

/** One call that may be sent again: the same account, operation and key mean the same call, if what it asks for is the same too. */
export type IdempotentRequest = {
  accountId: string;
  operation: string;
  /** Chosen by the caller. */
  key: string;
  /** SHA-256 of what the call asks for, by `hashRequest`. */
  requestHash: Uint8Array;
};

/** SHA-256 of a JSON value in which neither the order of keys nor the spelling of a number matters. */
export function hashRequest(request: unknown): Uint8Array {
  return new Uint8Array(createHash("sha256").update(canonicalJson(request)).digest());
}

/** The number under which a call locks out itself. Two calls that share one wait for each other, and nothing worse. */
export function advisoryLockKey({ accountId, operation, key }: Omit<IdempotentRequest, "requestHash">): bigint {
  const text = JSON.stringify([accountId, operation, key]);
  return createHash("sha256").update(`idempotency ${text}`).digest().readBigInt64BE();
}

// What it is given has a bounded depth, since it was read from a body.
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join()}}`;
}
