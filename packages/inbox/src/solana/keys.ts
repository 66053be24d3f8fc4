import { decodeBase58, encodeBase58 } from "./base58.ts";

/** The SPL Token program. */
export const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
/** The Token-2022 program. */
export const token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
/** The program that creates the one token account of a wallet and a mint that wallets look for. */
export const associatedTokenProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
export const systemProgram = "11111111111111111111111111111111";
/** 32 zero bytes: in place of a recovery key it means none. The system program has this address. */
export const noKey = "1".repeat(32);

const keyBytes = 32;
const signatureBytes = 64;

/** The same mints, programs and wallets are decoded many times. The oldest entry is evicted first. */
const decodedKeys = new Map<string, Uint8Array>();
const DECODED_KEYS_MAX = 10_000;

/** The 32 bytes of an address. Throws a RangeError that names the field. */
export function decodeKey(name: string, text: string): Uint8Array {
  const cached = decodedKeys.get(text);
  if (cached !== undefined) return cached;
  const bytes = parseKey(text);
  if (bytes === undefined) throw new RangeError(`${name} must be the base58 of 32 bytes`);
  const [oldest = ""] = decodedKeys.size >= DECODED_KEYS_MAX ? decodedKeys.keys() : [];
  decodedKeys.delete(oldest);
  decodedKeys.set(text, bytes);
  return bytes;
}

/** The bytes of an address; undefined when the text is none. Each address has exactly one text. */
export function parseKey(text: unknown): Uint8Array | undefined {
  // 32 bytes have 32 to 44 digits. Longer texts are not decoded, because decoding takes quadratic time.
  if (typeof text !== "string" || !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return undefined;
  const bytes = decodeBase58(text);
  return bytes?.length === keyBytes ? bytes : undefined;
}

/** Formats 32 bytes as an address. */
export function encodeKey(bytes: Uint8Array): string {
  if (bytes.length !== keyBytes) throw new RangeError("an address has 32 bytes");
  return encodeBase58(bytes);
}

/** Formats the 64 bytes of a signature, which name a transaction. */
export function encodeSignature(bytes: Uint8Array): string {
  if (bytes.length !== signatureBytes) throw new RangeError("a signature has 64 bytes");
  return encodeBase58(bytes);
}
