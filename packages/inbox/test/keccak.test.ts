import assert from "node:assert/strict";
import { after, test } from "node:test";
import { keccak_256 } from "@noble/hashes/sha3";
import { enableWasmKeccak } from "../src/wasmKeccak.ts";
import { setKeccak256, keccak256 } from "../src/keccak.ts";
import { drawBytes } from "../../../test/support/drawBytes.ts";

const BLOCK_BYTES = 136;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

after(() => setKeccak256(keccak_256));

test("the fast hash equals the default one, for every length up to several blocks and for a long message", async () => {
  assert.equal(await enableWasmKeccak(), true);
  const lengths = Array.from({ length: 5 * BLOCK_BYTES }, (_, length) => length);
  for (const length of [...lengths, 100_000]) {
    const message = drawBytes(length);
    assert.equal(hex(keccak256(message)), hex(keccak_256(message)), `${length} bytes`);
  }
});

test("without WebAssembly the default hash stays", async () => {
  setKeccak256(keccak_256);
  const { WebAssembly: allowed } = globalThis as unknown as { WebAssembly: object };
  Object.defineProperty(globalThis, "WebAssembly", { value: undefined, configurable: true });
  try {
    assert.equal(await enableWasmKeccak(), false);
    assert.equal(hex(keccak256(new Uint8Array())).slice(0, 8), "c5d24601");
  } finally {
    Object.defineProperty(globalThis, "WebAssembly", { value: allowed, configurable: true, writable: true });
  }
});
