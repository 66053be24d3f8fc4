import { bytesToHex, hexToBytes } from "@noble/hashes/utils";

// Base58 with Bitcoin's alphabet. Nine digits at a time fit a number, which is many times faster than digit by digit.

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const base = 58;
const chunkDigits = 9;
const chunkBase = BigInt(base ** chunkDigits);
const valueOf = new Map(Array.from(alphabet, (digit, value) => [digit, value] as const));

/** Each zero byte at the start is a 1. */
export function encodeBase58(bytes: Uint8Array): string {
  const zeros = countLeading(bytes, 0);
  let rest = zeros === bytes.length ? 0n : BigInt(`0x${bytesToHex(bytes)}`);
  let text = "";
  while (rest > 0n) {
    const above = rest / chunkBase;
    let chunk = Number(rest - above * chunkBase);
    rest = above;
    for (let digits = 0; digits < chunkDigits && (chunk > 0 || rest > 0n); digits += 1) {
      text = `${alphabet[chunk % base]}${text}`;
      chunk = Math.trunc(chunk / base);
    }
  }
  return "1".repeat(zeros) + text;
}

/** Undefined when a character is no digit. Takes quadratic time: limit the length first. */
export function decodeBase58(text: string): Uint8Array | undefined {
  let number = 0n;
  for (let start = 0; start < text.length; start += chunkDigits) {
    const digits = text.slice(start, start + chunkDigits);
    let chunk = 0;
    for (const digit of digits) {
      const value = valueOf.get(digit);
      if (value === undefined) return undefined;
      chunk = chunk * base + value;
    }
    number = number * BigInt(base ** digits.length) + BigInt(chunk);
  }
  const hex = number === 0n ? "" : number.toString(16);
  const bytes = hexToBytes(hex.length % 2 === 0 ? hex : `0${hex}`);
  const zeros = countLeading(text, "1");
  const decoded = new Uint8Array(zeros + bytes.length);
  decoded.set(bytes, zeros);
  return decoded;
}

function countLeading<T>(items: ArrayLike<T>, item: T): number {
  let count = 0;
  while (count < items.length && items[count] === item) count += 1;
  return count;
}
