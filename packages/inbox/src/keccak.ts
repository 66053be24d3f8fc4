import { keccak_256 } from "@noble/hashes/sha3";

type Hash = (message: Uint8Array) => Uint8Array;

let hash: Hash = keccak_256;

/** Keccak-256 as Ethereum uses it, with the padding from before SHA-3. */
export function keccak256(message: Uint8Array): Uint8Array {
  return hash(message);
}

/** Hashes with another implementation of the same function from now on. */
export function hashWith(other: Hash): void {
  hash = other;
}
