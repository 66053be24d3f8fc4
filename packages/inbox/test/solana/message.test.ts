import assert from "node:assert/strict";
import { test } from "node:test";
import {
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import type { Blockhash } from "@solana/kit";
import { drawn, fc } from "../../../../test/support/properties.ts";
import { decodeKey, encodeKey, parseKey } from "@tributary/inbox/solana/keys";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { encodeMessage, encodeTransaction } from "@tributary/inbox/solana/message";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { anyKey } from "./arbitraries.ts";

const anyInstruction = (keys: readonly string[]): fc.Arbitrary<SolanaInstruction> =>
  fc.record({
    // The reference encoder refuses programs that are writable accounts.
    program: fc.constantFrom(...keys.slice(-2)),
    accounts: fc.array(
      fc.record({ address: fc.constantFrom(...keys.slice(0, -2)), isSigner: fc.boolean(), isWritable: fc.boolean() }),
      { maxLength: 12 },
    ),
    data: fc.uint8Array({ maxLength: 200 }),
  });

const anyCase = fc
  .uniqueArray(anyKey, { minLength: 4, maxLength: 12 })
  .chain((keys) =>
    fc.record({ keys: fc.constant(keys), instructions: fc.array(anyInstruction(keys), { maxLength: 3 }) }),
  );

test("messages have the privileges and instructions that the reference encoder writes", async () => {
  await fc.assert(
    fc.asyncProperty(anyCase, anyKey, async ({ keys, instructions }, blockhash) => {
      const [feePayer = ""] = keys;
      const ours = encodeMessage({ feePayer, blockhash, instructions });
      const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 1n };
      const reference = pipe(
        createTransactionMessage({ version: "legacy" }),
        (message) => setTransactionMessageFeePayerSigner(createNoopSigner(address(feePayer)), message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
        (message) => appendTransactionMessageInstructions(instructions.map(toReference), message),
      );
      const { messageBytes } = compileTransaction(reference);
      assert.deepEqual(decodeMessage(ours.bytes), decodeMessage(new Uint8Array(messageBytes)));
    }),
    { numRuns: drawn(60) },
  );
});

function toReference({ program, accounts, data }: SolanaInstruction) {
  const role = (isSigner: boolean, isWritable: boolean) => (isSigner ? 2 : 0) + (isWritable ? 1 : 0);
  return {
    programAddress: address(program),
    accounts: accounts.map((meta) => ({ address: address(meta.address), role: role(meta.isSigner, meta.isWritable) })),
    data,
  };
}

/** Order within a group of equal privileges is free, so accounts are resolved. */
function decodeMessage(bytes: Uint8Array) {
  let at = 3;
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = bytes;
  const readLength = () => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return value;
    }
  };
  const take = (count: number) => {
    at += count;
    return bytes.slice(at - count, at);
  };
  const keys = Array.from({ length: readLength() }, () => encodeKey(take(32)));
  const describe = (index: number) => {
    const isSigner = index < signers;
    const isWritable = isSigner ? index < signers - readonlySigners : index < keys.length - readonlyOthers;
    return `${keys[index]} ${isSigner} ${isWritable}`;
  };
  const blockhash = encodeKey(take(32));
  const instructions = Array.from({ length: readLength() }, () => {
    const program = describe(take(1)[0] ?? 0);
    const accounts = [...take(readLength())].map(describe);
    return { program, accounts, data: [...take(readLength())] };
  });
  assert.equal(at, bytes.length);
  return { payer: describe(0), blockhash, instructions, keys: keys.map((_, index) => describe(index)).toSorted() };
}

test("a missing signature and a transaction that is too long are refused", () => {
  const [feePayer = "", program = ""] = fc.sample(anyKey, 2);
  const build = (bytes: number) => {
    const instructions = [{ program, accounts: [], data: new Uint8Array(bytes) }];
    return encodeMessage({ feePayer, blockhash: program, instructions });
  };
  const signatures = new Map([[feePayer, new Uint8Array(64)]]);
  assert.throws(() => encodeTransaction(build(1), new Map()), /signature of .* is missing/);
  assert.throws(() => encodeTransaction(build(1_100), signatures), /bytes; the maximum is 1232/);
  assert.equal(encodeTransaction(build(100), signatures).length, 1 + 64 + build(100).bytes.length);
});

test("an address has one text, and every other text is refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      assert.deepEqual(decodeKey("key", encodeKey(bytes)), bytes);
    }),
  );
  for (const text of ["", "1", "1".repeat(31), "1".repeat(33), "z".repeat(44), "0".repeat(32), 5, undefined])
    assert.equal(parseKey(text), undefined);
  assert.throws(() => decodeKey("mint", "x"), /mint must be the base58 of 32 bytes/);
  assert.throws(() => encodeKey(new Uint8Array(31)), RangeError);
  assert.throws(() => deriveAddress([new Uint8Array(33)], "11111111111111111111111111111111"), RangeError);
});
