import { malformedValue } from "../../rpc/jsonValues.ts";

// Parsers for values from a node. Each rejects malformed input, because a wrong number is worse than none.

export function parseQuantity(value: unknown, what: string): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw malformedValue(what, value);
  return BigInt(value);
}

export function parseSafeInteger(value: unknown, what: string): number {
  const number = Number(parseQuantity(value, what));
  if (!Number.isSafeInteger(number)) throw malformedValue(what, value);
  return number;
}

/** Parses a 32-byte hash into stored form. */
export function parseHash(value: unknown, what: string): string {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(value)) throw malformedValue(what, value);
  return value.toLowerCase();
}

export function parseBytes(value: unknown, what: string): string {
  if (typeof value !== "string" || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) throw malformedValue(what, value);
  return value.toLowerCase();
}

/** Formats a block number or an amount for JSON-RPC. */
export function toHex(number: bigint): string {
  return `0x${number.toString(16)}`;
}
