import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { isAddress } from "./hex.ts";
import type { Hex } from "./hex.ts";

/** The EIP-55 spelling of an address. Throws a RangeError when the text is not an address. */
export function checksumAddress(address: Hex): Hex {
  const lower = address.toLowerCase();
  if (!isAddress(lower)) throw new RangeError("an address is 0x and 40 digits");
  const digits = lower.slice(2);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  const spelled = Array.from(digits, (digit, index) => (hash.charAt(index) >= "8" ? digit.toUpperCase() : digit));
  return `0x${spelled.join("")}`;
}

/**
 * The lower-case form of an address that somebody else wrote, or undefined when it is none. Mixed case
 * must be correct EIP-55; one case throughout carries no checksum and is accepted.
 */
export function findAddress(text: unknown): Hex | undefined {
  if (typeof text !== "string") return undefined;
  const lower = text.toLowerCase();
  if (!text.startsWith("0x") || !isAddress(lower)) return undefined;
  const digits = text.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || checksumAddress(lower) === text ? lower : undefined;
}
