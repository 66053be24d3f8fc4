import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/properties.ts";
import { systemEntropy } from "./entropy.ts";
import { base32, newId } from "./ids.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

test("base32 writes the bytes as one number and keeps its last digits", () => {
  const bytes = fc.uint8Array({ maxLength: 24 });
  fc.assert(
    fc.property(bytes, fc.nat(40), (source, characters) => {
      const number = source.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
      const digitAt = (index: number) =>
        ALPHABET.charAt(Number((number >> BigInt(5 * (characters - 1 - index))) & 31n));
      assert.equal(
        base32(source, characters),
        Array.from({ length: characters }, (_, index) => digitAt(index)).join(""),
      );
    }),
  );
});

test("a hundred thousand ids are all different, and every bit varies", () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => newId("pi", systemEntropy)));
  assert.equal(ids.size, 100_000);
  // The first of 26 digits carries the upper 3 of 128 bits.
  for (let position = 0; position < 26; position += 1) {
    const digits = new Set([...ids].slice(0, 2_000).map((id) => id.charAt("pi_".length + position)));
    assert.equal(digits.size, position === 0 ? 8 : 32);
  }
});

test("random bytes are returned once, for any count", () => {
  const seen = new Set<string>();
  let count = 0;
  for (const size of [32, 16, 4_096, 5_000, 8, 4_090, 32]) {
    for (let again = 0; again < 40; again += 1) {
      const bytes = systemEntropy.bytes(size);
      assert.equal(bytes.length, size);
      for (let start = 0; start + 8 <= size; start += 8, count += 1)
        seen.add(Buffer.from(bytes.subarray(start, start + 8)).toString("hex"));
    }
  }
  assert.equal(seen.size, count);
});
