import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes } from "@noble/hashes/utils";
import { writableSignerMeta } from "@tributary/inbox/solana/instructions";
import { encodeMessage, encodeTransaction } from "@tributary/inbox/solana/message";
import { addSignature } from "../../src/solana/addSignature.ts";

// What a wallet returns, with the place of the second signature still empty.

const FEE_PAYER = "GbssP5YenYsFyBfrU1WGMMJD9vgo8D4PMgEozG5UxQYX";
const EVENT = "9ExJ6XYGGDif7BKkjvNJkdj37jmgoiYa2DR3U3o9kxtT";
const PROGRAM = "A27yWq6ooL214xBC1oaNCdJ4dKyDborZRVkc59PXcMwR";
const message = encodeMessage({
  feePayer: FEE_PAYER,
  blockhash: PROGRAM,
  instructions: [{ program: PROGRAM, accounts: [writableSignerMeta(EVENT)], data: Uint8Array.of(7) }],
});
const empty = new Uint8Array(64);
const ofWallet = new Uint8Array(64).fill(1);

/** Signs with the sum of the bytes, so that a signature over other bytes differs. */
const signer = {
  address: EVENT,
  sign: (bytes: Uint8Array) => new Uint8Array(64).fill(bytes.reduce((sum, byte) => (sum + byte) % 251, 2)),
};

test("the signature is over the returned message, at the signer's place, and nothing else changes", () => {
  const signatures = new Map([
    [FEE_PAYER, ofWallet],
    [EVENT, empty],
  ]);
  const returned = encodeTransaction(message, signatures);
  const expected = encodeTransaction(message, new Map([...signatures, [EVENT, signer.sign(message.bytes)]]));
  assert.deepEqual(addSignature(returned, signer), expected);
});

test("a message of version 0 is signed too", () => {
  const versioned = concatBytes(Uint8Array.of(0x80), message.bytes, Uint8Array.of(0));
  const returned = concatBytes(Uint8Array.of(2), ofWallet, empty, versioned);
  const expected = concatBytes(Uint8Array.of(2), ofWallet, signer.sign(versioned), versioned);
  assert.deepEqual(addSignature(returned, signer), expected);
});

test("a transaction that does not ask for the signer is refused", () => {
  const other = encodeMessage({ feePayer: FEE_PAYER, blockhash: PROGRAM, instructions: [] });
  const returned = encodeTransaction(other, new Map([[FEE_PAYER, ofWallet]]));
  assert.throws(() => addSignature(returned, signer), /was not asked for/);
  assert.throws(() => addSignature(new Uint8Array(0), signer), /was not asked for/);
});
