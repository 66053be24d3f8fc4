import { decodeBase58 } from "./text/base58.ts";

// An address on Solana is 32 bytes. A wallet's is a point on the curve ed25519, since somebody has its private key; an address that a
// program has derived, as that of a token account mostly is, was chosen so that it is none.

const ADDRESS_BYTES = 32;
const PRIME = 2n ** 255n - 19n;
/** The curve is −x² + y² = 1 + D·x²·y². */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** The bytes of an address; undefined when the text is not the base58 of 32 bytes. */
export function decodeSolanaAddress(text: string): Uint8Array | undefined {
  const bytes = decodeBase58(text);
  return bytes?.length === ADDRESS_BYTES ? bytes : undefined;
}

/** Whether 32 bytes are a point on ed25519, by the same rules as Solana itself: the last bit is the sign of x, and y is taken modulo the prime. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const littleEndian = Buffer.from(bytes).reverse().toString("hex");
  const y = BigInt(`0x${littleEndian}`) & (2n ** 255n - 1n);
  const ySquared = (y * y) % PRIME;
  const numerator = (ySquared + PRIME - 1n) % PRIME;
  const denominator = (D * ySquared + 1n) % PRIME;
  // x² = numerator / denominator, which is a square exactly when numerator · denominator is one.
  const product = (numerator * denominator) % PRIME;
  return product === 0n || powMod(product, (PRIME - 1n) / 2n) === 1n;
}

function powMod(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * factor) % PRIME;
    factor = (factor * factor) % PRIME;
  }
  return result;
}
