import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import type { Hex } from "@tributary/inbox/terms";

// The part of ABI encoding that recovery needs. The page includes no library, so an auditor reads these files alone.

export function toFunctionSelector(signature: string): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(signature))).slice(0, 8)}`;
}

export function encodeAddress(address: Hex): string {
  return address.slice(2).toLowerCase().padStart(64, "0");
}

export function encodeUint(value: number | bigint): string {
  return value.toString(16).padStart(64, "0");
}

/** Decodes the first word of a response; undefined when it has none. */
export function decodeUint(response: unknown): bigint | undefined {
  return typeof response === "string" && /^0x[0-9a-f]{64}/i.test(response) ? BigInt(response.slice(0, 66)) : undefined;
}

/**
 * Decodes a `string`, or the `bytes32` that a few old tokens return. Undefined unless it has 1 to 24 printable ASCII
 * characters.
 */
export function decodeString(response: unknown): string | undefined {
  if (typeof response !== "string" || !/^0x(?:[0-9a-f]{64})+$/i.test(response)) return undefined;
  const words = hexToBytes(response.slice(2));
  const bytes = words.length === 32 ? words : words.slice(64, 64 + Number(decodeUint(`0x${response.slice(66)}`) ?? 0n));
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "");
  return /^[\x20-\x7e]{1,24}$/.test(text) ? text : undefined;
}

/** Parses a JSON-RPC quantity. Throws a RangeError when it is malformed. */
export function parseQuantity(value: unknown, name: string): bigint {
  if (typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new RangeError(`The chain's response for ${name} is not a number.`);
}
