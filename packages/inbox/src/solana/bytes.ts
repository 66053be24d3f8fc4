import { hexToBytes } from "@noble/hashes/utils";
import { encodeBytes32 } from "../hex.ts";
import type { Hex } from "../hex.ts";

/** Encodes an unsigned integer in little-endian bytes. Throws a RangeError when it does not fit. */
export function encodeInteger(name: string, value: bigint | number, bytes: number): Uint8Array {
  const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
  const whole = isWhole ? BigInt(value) : -1n;
  if (whole < 0n || whole >= 1n << BigInt(8 * bytes))
    throw new RangeError(`${name} must be an unsigned integer of ${8 * bytes} bits`);
  return Uint8Array.from({ length: bytes }, (_, index) => Number((whole >> BigInt(8 * index)) & 0xffn));
}

/** The bytes of a 32-byte value. Throws a RangeError that names the field. */
export function bytes32(name: string, value: Hex): Uint8Array {
  return hexToBytes(encodeBytes32(name, value));
}
