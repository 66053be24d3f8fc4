// Whether 32 bytes are a point of edwards25519. A Jacobi symbol tells it without computing the point, several times
// faster than a square root. Addresses are derived in great numbers.

/** The prime of the field, 2^255 - 19. */
const prime = 2n ** 255n - 19n;
/** The d of the curve's equation -x² + y² = 1 + d·x²·y². */
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const yMask = 2n ** 255n - 1n;
const wordBits = 32;

/**
 * Whether 32 bytes are a point of the curve, as a wallet is. Decodes as the runtime does, which accepts every encoding
 * of a point (ZIP 215).
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = readY(bytes);
  const ySquare = (y * y) % prime;
  // x² is the quotient of these two. It is a square where their product is one; the divisor is never 0.
  const product = ((ySquare - 1n) * (d * ySquare + 1n)) % prime;
  return product === 0n || jacobi(product < 0n ? product + prime : product, prime) === 1;
}

function readY(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let y = 0n;
  for (let offset = 24; offset >= 0; offset -= 8) y = (y << 64n) | view.getBigUint64(offset, true);
  return y & yMask;
}

/** The Jacobi symbol of a positive number over an odd one; 0 where both have a common factor. */
function jacobi(above: bigint, below: bigint): -1 | 0 | 1 {
  let [a, n] = [above, below];
  let isNegative = false;
  while (a !== 0n) {
    let zeros = 0;
    let low = lowWord(a);
    while (low === 0) {
      a >>= 32n;
      zeros += wordBits;
      low = lowWord(a);
    }
    const trailing = wordBits - 1 - Math.clz32(low & -low);
    a >>= BigInt(trailing);
    const [aLow, nLow] = [lowWord(a) % 8, lowWord(n) % 8];
    const isOddPower = (zeros + trailing) % 2 === 1;
    if (isOddPower && (nLow === 3 || nLow === 5)) isNegative = !isNegative;
    if (aLow % 4 === 3 && nLow % 4 === 3) isNegative = !isNegative;
    [a, n] = [n % a, a];
  }
  if (n !== 1n) return 0;
  return isNegative ? -1 : 1;
}

function lowWord(number: bigint): number {
  return Number(BigInt.asUintN(wordBits, number));
}
