import { keccak256, type Hex } from "viem";
import { TRANSFER_TOPIC } from "./parseTransfers.ts";

// A header carries a bloom of its block's logs: 2,048 bits, of which each log's address and each of its topics sets three, chosen by its hash. Bits
// that are missing prove that there is no such log. Some chains leave all of them out; then everything is said to be missing.

const BLOOM_PATTERN = /^0x[0-9a-f]{512}$/i;
const BLOOM_BITS = 2_048;
const BITS_PER_NIBBLE = 4;

/** Tokens are a handful of words in the configuration. */
const bitCache = new Map<string, readonly number[]>();

export function isBloom(value: unknown): value is string {
  return typeof value === "string" && BLOOM_PATTERN.test(value);
}

/** Whether the bloom has the bits of the token's address and those of the topic of a Transfer. They may come from two other logs. */
export function mayContainTransfer(bloom: string, token: string): boolean {
  return mayContain(bloom, TRANSFER_TOPIC) && mayContain(bloom, token);
}

function mayContain(bloom: string, item: string): boolean {
  let bits = bitCache.get(item);
  if (bits === undefined) bitCache.set(item, (bits = bloomBits(item)));
  return bits.every((bit) => {
    // The lowest bit stands at the right end of the text.
    const nibble = Number.parseInt(bloom.charAt(bloom.length - 1 - Math.floor(bit / BITS_PER_NIBBLE)), 16);
    return ((nibble >> (bit % BITS_PER_NIBBLE)) & 1) === 1;
  });
}

/** Each of the first three pairs of bytes of the hash names one. */
function bloomBits(item: string): number[] {
  const { buffer, byteOffset } = keccak256(item as Hex, "bytes");
  const view = new DataView(buffer, byteOffset);
  return [0, 2, 4].map((at) => view.getUint16(at) % BLOOM_BITS);
}
