import { utf8ToBytes } from "@noble/hashes/utils";
import { isAddress } from "./hex.ts";
import type { Hex } from "./hex.ts";
import { keccak256 } from "./keccak.ts";

/**
 * The same tokens, hubs and wallets are formatted many times, and each checksum costs a hash. The oldest entry is
 * evicted first.
 */
const checksumCache = new Map<string, Hex>();
const CHECKSUM_CACHE_MAX = 10_000;

/** Formats an address with its EIP-55 checksum. Throws a RangeError when the text is not an address. */
export function checksumAddress(address: Hex): Hex {
  const cached = checksumCache.get(address);
  if (cached !== undefined) return cached;
  const lower = address.toLowerCase();
  if (!isAddress(lower)) throw new RangeError("an address is 0x and 40 digits");
  const spelled = applyChecksum(lower.slice(2));
  const [oldest = ""] = checksumCache.size >= CHECKSUM_CACHE_MAX ? checksumCache.keys() : [];
  checksumCache.delete(oldest);
  checksumCache.set(lower, spelled);
  return spelled;
}

function applyChecksum(digits: string): Hex {
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
 * Returns the lower-case form of an address, or undefined when the text is invalid. Mixed case must be a correct EIP-55
 * checksum; a single case carries no checksum and is accepted.
 */
export function parseAddress(text: unknown): Hex | undefined {
  if (typeof text !== "string") return undefined;
  const lower = text.toLowerCase();
  if (!text.startsWith("0x") || !isAddress(lower)) return undefined;
  const digits = text.slice(2);
  const isSingleCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isSingleCase || checksumAddress(lower) === text ? lower : undefined;
}
