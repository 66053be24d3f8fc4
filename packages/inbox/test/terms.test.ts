import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { encodeAbiParameters, keccak256 } from "viem";
import { computeInboxSalt } from "@tributary/inbox/salt";
import { encodeTerms, hashTerms } from "@tributary/inbox/terms";
import { anyTerms, anyBytes32 } from "./arbitraries.ts";

const termsParameters = [
  { type: "bytes32" },
  { type: "uint64" },
  { type: "address" },
  { type: "address" },
  { type: "address" },
  { type: "uint16" },
  { type: "address" },
  { type: "uint48" },
  { type: "bytes32" },
] as const;

test("terms are encoded and hashed exactly as by the ABI", () => {
  fc.assert(
    fc.property(anyTerms, (terms) => {
      const encoded = encodeAbiParameters(termsParameters, [
        terms.salt,
        terms.settleChainId,
        terms.settleToken,
        terms.payout,
        terms.feeRecipient,
        terms.feeBps,
        terms.recovery,
        terms.recoverAfter,
        terms.routesRoot,
      ]);
      assert.equal(encodeTerms(terms), encoded);
      assert.equal(hashTerms(terms), keccak256(encoded));
    }),
  );
});

test("an invalid field is refused by name", () => {
  const [terms] = fc.sample(anyTerms, 1);
  assert.ok(terms !== undefined);
  assert.throws(() => hashTerms({ ...terms, feeBps: 65_536 }), /feeBps/);
  assert.throws(() => hashTerms({ ...terms, feeBps: 0.5 }), /feeBps/);
  assert.throws(() => hashTerms({ ...terms, settleChainId: 1n << 64n }), /settleChainId/);
  assert.throws(() => hashTerms({ ...terms, settleChainId: -1n }), /settleChainId/);
  assert.throws(() => hashTerms({ ...terms, payout: "0x12" }), /payout/);
  assert.throws(() => hashTerms({ ...terms, salt: "0x12" }), /salt/);
});

test("the salt of an intent is the keccak of its ABI encoding, for any text", () => {
  fc.assert(
    fc.property(anyBytes32, fc.string({ unit: "binary", maxLength: 100 }), (deploymentId, intentId) => {
      const encoded = encodeAbiParameters(
        [{ type: "string" }, { type: "bytes32" }, { type: "string" }],
        ["tributary.inbox.v1", deploymentId, intentId],
      );
      assert.equal(computeInboxSalt(deploymentId, intentId), keccak256(encoded));
    }),
  );
});
