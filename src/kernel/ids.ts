import type { Entropy } from "./entropy.ts";

// Crockford's base32 alphabet omits i, l, o and u, so that people read and type an id without errors.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
export const ID_BYTES = 16;
const ID_CHARACTERS = 26;

export type IdPrefix = "pi" | "dep" | "set" | "evt" | "we" | "acct" | "req" | "mem" | "poc";

/** Returns `<prefix>_` and 26 characters that carry 128 random bits. An id reveals no order and no count. */
export function newId(prefix: IdPrefix, entropy: Entropy): string {
  return idOf(prefix, entropy.bytes(ID_BYTES));
}

/** The id with these 16 bytes. */
export function idOf(prefix: IdPrefix, bytes: Uint8Array): string {
  return `${prefix}_${base32(bytes, ID_CHARACTERS)}`;
}

/** The 16 bytes of an id; undefined when the text is no id of this prefix. */
export function idBytes(prefix: IdPrefix, id: string): Uint8Array | undefined {
  if (!new RegExp(idPattern(prefix)).test(id)) return undefined;
  let number = 0n;
  for (const character of id.slice(prefix.length + 1)) number = number * 32n + BigInt(ALPHABET.indexOf(character));
  // 26 characters carry 130 bits.
  if (number >> 128n !== 0n) return undefined;
  return Buffer.from(number.toString(16).padStart(ID_BYTES * 2, "0"), "hex");
}

/** A regular expression's source for the ids of a prefix. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-9a-hjkmnp-tv-z]{${ID_CHARACTERS}}$`;
}

/** Big-endian base32 of `bytes`, left-padded with zero bits to `characters` characters. */
export function base32(bytes: Uint8Array, characters: number): string {
  let text = "";
  // Bits of the input that are not written yet, starting from its end.
  let pending = 0;
  let pendingCount = 0;
  let next = bytes.length - 1;
  for (let index = 0; index < characters; index += 1) {
    if (pendingCount < 5 && next >= 0) {
      pending |= (bytes[next] ?? 0) << pendingCount;
      pendingCount += 8;
      next -= 1;
    }
    text = ALPHABET.charAt(pending & 31) + text;
    pending >>= 5;
    pendingCount -= 5;
  }
  return text;
}
