import { sha256 } from "@noble/hashes/sha2";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils";
import { isOnCurve } from "./curve.ts";
import { associatedTokenProgram, decodeKey, encodeKey } from "./keys.ts";

const marker = utf8ToBytes("ProgramDerivedAddress");
const seedBytesMax = 32;
const seedsMax = 15;
const bumpMax = 255;

export type DerivedAddress = {
  readonly address: string;
  /** The last seed: the highest byte that gives an address without a private key. */
  readonly bump: number;
};

/**
 * The address that a program signs for with these seeds: a SHA-256 that is no point of the curve, so that no private
 * key exists for it. Throws a RangeError when a seed is longer than 32 bytes or there are more than 15.
 */
export function deriveAddress(seeds: readonly Uint8Array[], program: string): DerivedAddress {
  if (seeds.length > seedsMax || seeds.some(({ length }) => length > seedBytesMax))
    throw new RangeError(`an address has at most ${seedsMax} seeds of at most ${seedBytesMax} bytes`);
  const programBytes = decodeKey("program", program);
  for (let bump = bumpMax; bump >= 0; bump -= 1) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), programBytes, marker));
    if (!isOnCurve(hash)) return { address: encodeKey(hash), bump };
  }
  throw new RangeError("no bump gives an address for these seeds");
}

/** The token account of a wallet and a mint that wallets look for. */
export function deriveTokenAccount(owner: string, mint: string, program: string): DerivedAddress {
  const seeds = [decodeKey("owner", owner), decodeKey("tokenProgram", program), decodeKey("mint", mint)];
  return deriveAddress(seeds, associatedTokenProgram);
}
