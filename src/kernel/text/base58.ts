// Bitcoin's base58, as Solana writes addresses: one number in 58 digits, and one leading 1 for each leading zero byte. Each byte
// sequence has exactly one text, so two texts are equal exactly when their bytes are.

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE = 58n;
/** Decoding takes quadratic time, and every text that we decode is shorter. */
const CHARACTERS_MAX = 128;

/** Returns undefined when a character is outside the alphabet, or the text is longer than CHARACTERS_MAX. */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length > CHARACTERS_MAX) return undefined;
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    value = value * BASE + BigInt(digit);
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const digits = value === 0n ? "" : value.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  return new Uint8Array([...Array.from({ length: zeros }, () => 0), ...bytes]);
}
