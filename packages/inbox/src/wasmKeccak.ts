import { keccak_256 } from "@noble/hashes/sha3";
import { createKeccak } from "hash-wasm";
import { setKeccak256 } from "./keccak.ts";

/** An address takes about six hashes, most of them of two blocks. */
const SAMPLE_BYTES = 200;

/**
 * Switches to a WebAssembly hash that is twenty times as fast, for callers that compute many addresses. Returns false,
 * and changes nothing, when WebAssembly is forbidden or its result differs from the default implementation.
 */
export async function enableWasmKeccak(): Promise<boolean> {
  const hash = await loadWasmKeccak().catch(() => undefined);
  if (hash === undefined) return false;
  setKeccak256(hash);
  return true;
}

async function loadWasmKeccak(): Promise<((message: Uint8Array) => Uint8Array) | undefined> {
  const hasher = await createKeccak(256);
  const hash = (message: Uint8Array) => hasher.init().update(message).digest("binary");
  const sample = Uint8Array.from({ length: SAMPLE_BYTES }, (_, index) => index);
  const [expected, actual] = [keccak_256(sample), hash(sample)];
  const isSame = actual.length === expected.length && actual.every((byte, index) => byte === expected[index]);
  return isSame ? hash : undefined;
}
