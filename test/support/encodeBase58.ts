const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE = 58n;

/** Encodes bytes in base58, as in Solana addresses. */
export function encodeBase58(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = "";
  for (; value > 0n; value /= BASE) text = ALPHABET.charAt(Number(value % BASE)) + text;
  const firstSet = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(firstSet < 0 ? bytes.length : firstSet) + text;
}
