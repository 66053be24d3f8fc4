import { bytesToHex } from "@noble/hashes/utils";
import { keccak256 } from "./keccak.ts";

/** Bytes as `0x` and an even number of hexadecimal digits; this package writes lower case. */
export type Hex = `0x${string}`;

const bytes32Pattern = /^0x[0-9a-f]{64}$/;
const addressPattern = /^0x[0-9a-f]{40}$/;
const bytesPattern = /^0x(?:[0-9a-f]{2})*$/;

export const zeroAddress: Hex = `0x${"0".repeat(40)}`;
export const zeroBytes32: Hex = `0x${"0".repeat(64)}`;

/** Keccak-256 of bytes given as hexadecimal digits without `0x`. */
export function keccakHex(digits: string): Hex {
  const bytes = new Uint8Array(digits.length / 2);
  for (let index = 0; index < bytes.length; index += 1)
    bytes[index] = hexDigitValue(digits, 2 * index) * 16 + hexDigitValue(digits, 2 * index + 1);
  return `0x${bytesToHex(keccak256(bytes))}`;
}

/** The value of a lower-case digit: "0" has character code 48, "a" has 97. */
function hexDigitValue(digits: string, index: number): number {
  const code = digits.charCodeAt(index);
  return code < 58 ? code - 48 : code - 87;
}

export function isAddress(text: unknown): text is Hex {
  return typeof text === "string" && addressPattern.test(text);
}

export function isBytes32(text: unknown): text is Hex {
  return typeof text === "string" && bytes32Pattern.test(text);
}

/** Encodes a 32-byte value as 64 digits. Throws a RangeError when the text is invalid. */
export function encodeBytes32(name: string, value: Hex): string {
  const lower = value.toLowerCase();
  if (!bytes32Pattern.test(lower)) throw new RangeError(`${name} must be 32 bytes as 0x and 64 digits`);
  return lower.slice(2);
}

/** Encodes an address as 64 digits, padded on the left. Throws a RangeError when the text is not an address. */
export function encodeAddress(name: string, value: Hex): string {
  const lower = value.toLowerCase();
  if (!addressPattern.test(lower)) throw new RangeError(`${name} must be 20 bytes as 0x and 40 digits`);
  return lower.slice(2).padStart(64, "0");
}

/** Encodes an unsigned integer of at most `bits` bits as 64 digits. Throws a RangeError when it does not fit. */
export function encodeUint(name: string, value: bigint | number, bits: number): string {
  const fits = typeof value === "bigint" || Number.isSafeInteger(value);
  const whole = fits ? BigInt(value) : -1n;
  if (whole < 0n || whole >= 1n << BigInt(bits))
    throw new RangeError(`${name} must be an unsigned integer of ${bits} bits`);
  return whole.toString(16).padStart(64, "0");
}

/** Returns the digits of arbitrary bytes. Throws a RangeError when the text is not whole bytes. */
export function toHexDigits(name: string, value: Hex): string {
  const lower = value.toLowerCase();
  if (!bytesPattern.test(lower)) throw new RangeError(`${name} must be 0x and an even number of digits`);
  return lower.slice(2);
}
