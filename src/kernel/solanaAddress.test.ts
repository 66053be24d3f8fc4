import assert from "node:assert/strict";
import { createHash, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { encodeBase58 } from "../../test/support/encodeBase58.ts";
import { decodeBase58 } from "./text/base58.ts";
import { isOnCurve, decodeSolanaAddress } from "./solanaAddress.ts";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";

function bytesOf(address: string): Uint8Array {
  const bytes = decodeSolanaAddress(address);
  assert.ok(bytes, address);
  return bytes;
}

test("base58 decodes every byte sequence that it encodes, and each has one text", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      assert.deepEqual(decodeBase58(encodeBase58(bytes)), bytes);
    }),
  );
  fc.assert(
    fc.property(fc.base64String({ maxLength: 50 }), (text) => {
      const bytes = decodeBase58(text);
      if (bytes !== undefined) assert.equal(encodeBase58(bytes), text);
    }),
  );
  assert.equal(decodeBase58("1".repeat(200)), undefined, "too long to decode");
  for (const text of ["0", "O", "I", "l", " ", "é", "2-"]) assert.equal(decodeBase58(text), undefined, text);
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
    assert.equal(encodeBase58(derived), "DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n");
    return;
  }
});

test("about half of all 32-byte values lie on the curve", () => {
  const hashes = Array.from({ length: 200 }, (_, index) => createHash("sha256").update(`${index}`).digest());
  const count = hashes.filter((hash) => isOnCurve(new Uint8Array(hash))).length;
  assert.ok(count > 60 && count < 140, `${count} of 200`);
});
