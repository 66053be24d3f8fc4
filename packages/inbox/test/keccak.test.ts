import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { keccak_256 } from "@noble/hashes/sha3";
import { keccak256, startFast } from "../src/keccak.ts";
import { BLOCK_BYTES, BLOCKS_MAX } from "../src/keccakModule.ts";

const message = (bytes: number) => new Uint8Array(randomBytes(bytes));
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test("§2.2 the fast hash is that of the library, for messages of every length up to several blocks and beyond the memory", () => {
  const fast = startFast();
  assert.ok(fast);
  const lengths = Array.from({ length: 5 * BLOCK_BYTES }, (_, length) => length);
  for (const length of [...lengths, BLOCKS_MAX * BLOCK_BYTES - 1, BLOCKS_MAX * BLOCK_BYTES, 100_000]) {
    const bytes = message(length);
    assert.equal(hex(fast(bytes)), hex(keccak_256(bytes)), `${length} bytes`);
  }
});

test("§2.2 the first hash and the thousandth are the same", () => {
  const bytes = message(200);
  const hashes = Array.from({ length: 1_000 }, () => hex(keccak256(bytes)));
  assert.deepEqual([...new Set(hashes)], [hex(keccak_256(bytes))]);
});

test("§2.2 where WebAssembly is forbidden there is no fast hash, and the other goes on", () => {
  const { WebAssembly: allowed } = globalThis;
  Object.defineProperty(globalThis, "WebAssembly", { value: undefined, configurable: true });
  try {
    assert.equal(startFast(), undefined);
  } finally {
    Object.defineProperty(globalThis, "WebAssembly", { value: allowed, configurable: true, writable: true });
  }
});
