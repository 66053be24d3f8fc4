import { keccak_256 } from "@noble/hashes/sha3";

type HashFunction = (message: Uint8Array) => Uint8Array;

let hash: HashFunction = keccak_256;

/** Keccak-256 as Ethereum uses it, with the padding from before SHA-3. */
export function keccak256(message: Uint8Array): Uint8Array {
  return hash(message);
}

/** Hashes with another implementation of the same function from now on. */
export function setKeccak256(other: HashFunction): void {
  hash = other;
}
