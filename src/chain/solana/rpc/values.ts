import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { parseKey } from "@tributary/inbox/solana/keys";
import { malformedValue } from "../../rpc/jsonValues.ts";

// Parsers for values from a node. Each rejects malformed input, because a wrong number is worse than none.

const SIGNATURE_BYTES = 64;
const UNITS_MAX = 2n ** 64n - 1n;

/** A slot or another count, which nodes write as a JSON number. */
export function parseCount(value: unknown, what: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw malformedValue(what, value);
  return value;
}

export function parseSlot(value: unknown): bigint {
  return BigInt(parseCount(value, "a slot"));
}

/** An address or a blockhash: the base58 of 32 bytes. */
export function parseAddress(value: unknown, what: string): string {
  if (typeof value !== "string" || parseKey(value) === undefined) throw malformedValue(what, value);
  return value;
}

export function parseSignature(value: unknown): string {
  if (!isSignature(value)) throw malformedValue("a signature", value);
  return value;
}

/** Whether a text is the base58 of 64 bytes, as every transaction is named. */
export function isSignature(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(value) &&
    decodeBase58(value)?.length === SIGNATURE_BYTES
  );
}

/** An amount of tokens, which nodes write as a text. */
export function parseUnits(value: unknown): bigint {
  const isNumber = typeof value === "string" && /^(?:0|[1-9]\d{0,19})$/.test(value);
  if (!isNumber || BigInt(value) > UNITS_MAX) throw malformedValue("an amount", value);
  return BigInt(value);
}
