import { decodeBase58 } from "./text/base58.ts";

// A Solana address is 32 bytes. A wallet's address is a point on ed25519, because it has a private key. A program derived address,
// such as an associated token account, lies off the curve by design.

const ADDRESS_BYTES = 32;
const PRIME = 2n ** 255n - 19n;
/** The curve is −x² + y² = 1 + D·x²·y². */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Returns the 32 bytes of an address; undefined when the text is not base58 of 32 bytes. */
export function decodeSolanaAddress(text: string): Uint8Array | undefined {
  const bytes = decodeBase58(text);
  return bytes?.length === ADDRESS_BYTES ? bytes : undefined;
}

/** Whether 32 bytes are a point on ed25519. As in Solana, the last bit is the sign of x, and y is taken modulo the prime. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const littleEndian = Buffer.from(bytes).reverse().toString("hex");
  const y = BigInt(`0x${littleEndian}`) & (2n ** 255n - 1n);
  const ySquared = (y * y) % PRIME;
  const numerator = (ySquared + PRIME - 1n) % PRIME;
  const denominator = (D * ySquared + 1n) % PRIME;
  // x² = numerator / denominator, which is a square exactly when numerator · denominator is a square.
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
