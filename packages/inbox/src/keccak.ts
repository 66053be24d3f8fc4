import { keccak_256 } from "@noble/hashes/sha3";

type HashFunction = (message: Uint8Array) => Uint8Array;

let hash: HashFunction = keccak_256;

/** Keccak-256 as Ethereum uses it, with the original padding instead of SHA-3's. */
export function keccak256(message: Uint8Array): Uint8Array {
  return hash(message);
}

/** Replaces the hash implementation for all later calls. */
export function setKeccak256(other: HashFunction): void {
  hash = other;
}
