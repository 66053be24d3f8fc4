import assert from "node:assert/strict";
import { createHash, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519";
import { base58 } from "@scure/base";
import { drawn, fc } from "../../../../test/support/properties.ts";
import { decodeBase58, encodeBase58 } from "@tributary/inbox/solana/base58";
import { isOnCurve } from "@tributary/inbox/solana/curve";
import { encodeKey, parseKey } from "@tributary/inbox/solana/keys";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";

function bytesOf(address: string): Uint8Array {
  const bytes = parseKey(address);
  assert.ok(bytes, address);
  return bytes;
}

test("an address has one text: each 32 bytes are read as they were written, and no other text is", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      assert.deepEqual(parseKey(encodeKey(bytes)), bytes);
    }),
  );
  fc.assert(
    fc.property(fc.base64String({ minLength: 32, maxLength: 48 }), (text) => {
      const bytes = parseKey(text);
      if (bytes !== undefined) assert.equal(encodeKey(bytes), text);
    }),
  );
  for (const text of [
    "1".repeat(200),
    "1".repeat(31),
    "1".repeat(33),
    `${TOKEN_PROGRAM} `,
    TOKEN_PROGRAM.replace("k", "0"),
  ])
    assert.equal(parseKey(text), undefined, text);
});

test("every public key of ed25519 lies on the curve", () => {
  for (let count = 0; count < 50; count += 1) {
    const { publicKey } = generateKeyPairSync("ed25519");
    assert.ok(isOnCurve(new Uint8Array(publicKey.export({ format: "der", type: "spki" }).subarray(-32))));
  }
});

test("a program derived address lies off the curve, at the bump that Solana chooses", () => {
  const owner = "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj";
  const mint = "7o36UsWR1JQLpZ9PE2gn9L4SQ69CNNiWAXd4Jt7rqz9Z";
  assert.ok(isOnCurve(bytesOf(owner)));
  const seeds = [owner, TOKEN_PROGRAM, mint].map(bytesOf);
  for (let bump = 255; ; bump -= 1) {
    const hash = createHash("sha256");
    for (const seed of seeds) hash.update(seed);
    hash
      .update(new Uint8Array([bump]))
      .update(bytesOf(ASSOCIATED_PROGRAM))
      .update("ProgramDerivedAddress");
    const derived = new Uint8Array(hash.digest());
    if (isOnCurve(derived)) continue;
    assert.equal(encodeKey(derived), "DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n");
    return;
  }
});

test("about half of all 32-byte values lie on the curve", () => {
  const hashes = Array.from({ length: 200 }, (_, index) => createHash("sha256").update(`${index}`).digest());
  const count = hashes.filter((hash) => isOnCurve(new Uint8Array(hash))).length;
  assert.ok(count > 60 && count < 140, `${count} of 200`);
});

test("bytes of any length are written and read in base58 as by another library", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 3 }), { maxLength: 3 }), fc.uint8Array({ maxLength: 80 }), (start, end) => {
      const bytes = Uint8Array.from([...start, ...end]);
      assert.equal(encodeBase58(bytes), base58.encode(bytes));
      assert.deepEqual(decodeBase58(encodeBase58(bytes)), bytes);
    }),
  );
  for (const text of ["0", "1l", "a b", "é"]) assert.equal(decodeBase58(text), undefined, text);
});

/** Like ExtendedPoint, whose declared type lacks the second parameter. */
type PointDecoder = { fromHex(bytes: Uint8Array, acceptsEveryEncoding: boolean): unknown };

function hasPoint(bytes: Uint8Array): boolean {
  const decoder: PointDecoder = ed25519.ExtendedPoint;
  try {
    decoder.fromHex(bytes, true);
    return true;
  } catch {
    return false;
  }
}

test("exactly the encodings of points lie on the curve, unusual ones included", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      assert.equal(isOnCurve(bytes), hasPoint(bytes));
    }),
    { numRuns: drawn(500) },
  );
  // Around 0, around the prime, and at the highest values, with both signs.
  for (const [first, others, last] of [
    [0, 0, 0],
    [0, 0, 128],
    [237, 255, 127],
    [237, 255, 255],
  ] as const)
    for (let offset = 0; offset < 19; offset += 1) {
      const bytes = new Uint8Array(32)
        .fill(others)
        .with(31, last)
        .with(0, first + offset > 255 ? 255 : first + offset);
      for (const each of [bytes, bytes.with(0, Math.max(0, first - offset))])
        assert.equal(isOnCurve(each), hasPoint(each), each.join(" "));
    }
});
