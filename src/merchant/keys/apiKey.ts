import { hash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Entropy } from "../../kernel/entropy.ts";
import { base32 } from "../../kernel/ids.ts";

// trib_<env>_<keyId>_<56 random hex><8 hex of CRC-32>. The checksum covers everything before it, so that a mistyped or
// truncated key is refused without a database query. The database stores only the SHA-256 of the whole key.

export type Environment = "test" | "live";
export type ParsedKey = { environment: Environment; keyId: string; hash: Uint8Array; hashHex: string };

const PATTERN = /^trib_(live|test)_([0-9a-z]{16})_([0-9a-f]{64})$/;
const CHECKSUM_CHARACTERS = 8;
const KEY_ID_BYTES = 10;
const KEY_ID_CHARACTERS = 16;
const SECRET_BYTES = 28;

export function newApiKey(
  environment: Environment,
  entropy: Entropy,
): { keyId: string; apiKey: string; hash: Uint8Array } {
  const keyId = base32(entropy.bytes(KEY_ID_BYTES), KEY_ID_CHARACTERS);
  const unchecked = `trib_${environment}_${keyId}_${Buffer.from(entropy.bytes(SECRET_BYTES)).toString("hex")}`;
  const apiKey = unchecked + checksumOf(unchecked);
  return { keyId, apiKey, hash: new Uint8Array(Buffer.from(sha256(apiKey), "hex")) };
}

/** Parses a key. Returns undefined when its form or its checksum is wrong. */
export function parseApiKey(text: string): ParsedKey | undefined {
  const match = PATTERN.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  const unchecked = text.slice(0, -CHECKSUM_CHARACTERS);
  if (!text.endsWith(checksumOf(unchecked))) return undefined;
  const hashHex = sha256(text);
  return { environment: match[1] as Environment, keyId: match[2], hash: Buffer.from(hashHex, "hex"), hashHex };
}

/** Compares in constant time, whatever the position of a difference. */
export function isEqualConstantTime(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

// Hex text is faster: a Buffer result is allocated outside the heap, which takes longer than the hash.
function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(CHECKSUM_CHARACTERS, "0");
}
