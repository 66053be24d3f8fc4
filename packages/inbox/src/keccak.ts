import { keccak_256 } from "@noble/hashes/sha3";
import { BLOCK_BYTES, BLOCKS_MAX, HASH_BYTES, keccakModule, MESSAGE_AT } from "./keccakModule.ts";

// An address takes half a dozen hashes. Whoever makes many addresses gets them from WebAssembly, in a tenth of the time. A page that
// verifies one is left alone: it would gain nothing, and some pages forbid WebAssembly.

/** As much of it as is used here: the types of browsers have it, and no others. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Exports };
};

type Exports = { readonly memory: { readonly buffer: ArrayBuffer }; readonly absorb: (blockCount: number) => void };
type Hash = (message: Uint8Array) => Uint8Array;

const FAST_FROM = 100;

let hashed = 0;
let hash: Hash = keccak_256;

/** Keccak-256 as Ethereum uses it, with the padding from before SHA-3. */
export function keccak256(message: Uint8Array): Uint8Array {
  hashed += 1;
  if (hashed === FAST_FROM) hash = startFast() ?? keccak_256;
  return hash(message);
}

/** The hash by WebAssembly; undefined where there is none. */
export function startFast(): Hash | undefined {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(keccakModule()));
    return fastHash(exports);
  } catch {
    return undefined;
  }
}

function fastHash({ memory: { buffer }, absorb }: Exports): Hash {
  const memory = new Uint8Array(buffer);
  return (message) => {
    const blockCount = Math.floor(message.length / BLOCK_BYTES) + 1;
    if (blockCount > BLOCKS_MAX) return keccak_256(message);
    const [tail, end] = [MESSAGE_AT + message.length, MESSAGE_AT + blockCount * BLOCK_BYTES];
    memory.set(message, MESSAGE_AT);
    memory.fill(0, tail, end);
    memory[tail] = 0x01;
    memory[end - 1] = (memory[end - 1] ?? 0) | 0x80;
    absorb(blockCount);
    return memory.slice(0, HASH_BYTES);
  };
}
