import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import type { Hex } from "@tributary/inbox/terms";

// The few words of the contract language that recovering needs. A page that people keep for years has no room for a library.

export function toFunctionSelector(signature: string): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(signature))).slice(0, 8)}`;
}

export function encodeAddress(address: Hex): string {
  return address.slice(2).toLowerCase().padStart(64, "0");
}

export function encodeUint(value: number | bigint): string {
  return value.toString(16).padStart(64, "0");
}

/** The first word of an answer as a number, or undefined when the answer has none. */
export function decodeUint(answer: unknown): bigint | undefined {
  return typeof answer === "string" && /^0x[0-9a-f]{64}/i.test(answer) ? BigInt(answer.slice(0, 66)) : undefined;
}

/** A text as `string`, or as the `bytes32` that a few old tokens answer with; what cannot be shown on one line is left out. */
export function decodeString(answer: unknown): string | undefined {
  if (typeof answer !== "string" || !/^0x(?:[0-9a-f]{64})+$/i.test(answer)) return undefined;
  const words = hexToBytes(answer.slice(2));
  const bytes = words.length === 32 ? words : words.slice(64, 64 + Number(decodeUint(`0x${answer.slice(66)}`) ?? 0n));
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "");
  return /^[\x20-\x7e]{1,24}$/.test(text) ? text : undefined;
}

/** A quantity of JSON-RPC. Throws a RangeError when it is none. */
export function parseQuantity(value: unknown, what: string): bigint {
  if (typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new RangeError(`The chain answered ${what} with something that is no number.`);
}
