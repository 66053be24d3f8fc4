import { utf8ToBytes } from "@noble/hashes/utils";
import { isAddress } from "./hex.ts";
import type { Hex } from "./hex.ts";
import { keccak256 } from "./keccak.ts";

/** Tokens, hubs and wallets are shown over and over, and each spelling takes a hash. The longest known one makes room. */
const known = new Map<string, Hex>();
const KNOWN_MAX = 10_000;

/** The EIP-55 spelling of an address. Throws a RangeError when the text is not an address. */
export function checksumAddress(address: Hex): Hex {
  const found = known.get(address);
  if (found !== undefined) return found;
  const lower = address.toLowerCase();
  if (!isAddress(lower)) throw new RangeError("an address is 0x and 40 digits");
  const spelled = spell(lower.slice(2));
  const [longestKnown = ""] = known.size >= KNOWN_MAX ? known.keys() : [];
  known.delete(longestKnown);
  known.set(lower, spelled);
  return spelled;
}

function spell(digits: string): Hex {
  const hash = keccak256(utf8ToBytes(digits));
  const upper = digits.toUpperCase();
  let spelled: Hex = "0x";
  for (let index = 0; index < digits.length; index += 1) {
    const halfByte = (hash[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0);
    spelled += halfByte & 8 ? upper.charAt(index) : digits.charAt(index);
  }
  return spelled;
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
