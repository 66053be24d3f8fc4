import { keccak256, type Hex } from "viem";
import { TRANSFER_TOPIC } from "./parseTransfers.ts";

// A header has a bloom of its block's logs: 2,048 bits, of which each log address and topic sets three, by its hash. A
// missing bit proves that no such log exists. Some chains leave the bloom empty, so every log seems missing; on others
// it belongs to other blocks (config: hasForeignBloom).

const BLOOM_PATTERN = /^0x[0-9a-f]{512}$/i;
const BLOOM_BITS = 2_048;
const BITS_PER_NIBBLE = 4;

/** Bounded by the configured tokens. */
const bitCache = new Map<string, readonly number[]>();

export function isBloom(value: unknown): value is string {
  return typeof value === "string" && BLOOM_PATTERN.test(value);
}

/**
 * Whether the bloom has the bits of the token's address and of the Transfer topic. Two other logs may have set them.
 */
export function mayContainTransfer(bloom: string, token: string): boolean {
  return mayContain(bloom, TRANSFER_TOPIC) && mayContain(bloom, token);
}

function mayContain(bloom: string, item: string): boolean {
  let bits = bitCache.get(item);
  if (bits === undefined) bitCache.set(item, (bits = bloomBits(item)));
  return bits.every((bit) => {
    // The lowest bit is at the right end of the text.
    const nibble = Number.parseInt(bloom.charAt(bloom.length - 1 - Math.floor(bit / BITS_PER_NIBBLE)), 16);
    return ((nibble >> (bit % BITS_PER_NIBBLE)) & 1) === 1;
  });
}

/** Each of the hash's first three byte pairs selects one bit. */
function bloomBits(item: string): number[] {
  const { buffer, byteOffset } = keccak256(item as Hex, "bytes");
  const view = new DataView(buffer, byteOffset);
  return [0, 2, 4].map((at) => view.getUint16(at) % BLOOM_BITS);
}
