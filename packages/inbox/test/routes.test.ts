import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { concat, encodeAbiParameters, keccak256 } from "viem";
import { cctpV2MinAmount, cctpV2Speeds } from "@tributary/inbox/cctpV2";
import { hashRoute, computeRouteProof, computeRoutesRoot } from "@tributary/inbox/routes";
import type { Hex } from "@tributary/inbox/terms";
import { anyRoute } from "./arbitraries.ts";

const leafParameters = ["uint64", "address", "address", "uint256", "bytes32"].map((type) => ({ type }));

test("a leaf is the double hash of the route's ABI encoding, its config hashed", () => {
  fc.assert(
    fc.property(anyRoute, (route) => {
      const { chainId, token, adapter, minAmount, config } = route;
      const encoded = encodeAbiParameters(leafParameters, [chainId, token, adapter, minAmount, keccak256(config)]);
      assert.equal(hashRoute(route), keccak256(keccak256(encoded)));
    }),
  );
});

test("every route's proof leads to the root, and the proof of any other route fails", () => {
  fc.assert(
    fc.property(fc.array(anyRoute, { minLength: 1, maxLength: 20 }), anyRoute, (routes, foreign) => {
      const root = computeRoutesRoot(routes);
      for (const [index, route] of routes.entries()) {
        assert.equal(computeRoot(hashRoute(route), computeRouteProof(routes, index)), root);
        assert.notEqual(computeRoot(hashRoute(foreign), computeRouteProof(routes, index)), root);
      }
    }),
  );
});

test("without routes the root is 0, one route is its own root, and a missing route has no proof", () => {
  const [route] = fc.sample(anyRoute, 1);
  assert.ok(route !== undefined);
  assert.equal(computeRoutesRoot([]), `0x${"00".repeat(32)}`);
  assert.equal(computeRoutesRoot([route]), hashRoute(route));
  assert.deepEqual(computeRouteProof([route], 0), []);
  for (const index of [-1, 1, 0.5]) assert.throws(() => computeRouteProof([route], index), RangeError);
});

/** Computes the root like the contract: the smaller hash first. */
function computeRoot(leaf: Hex, proof: readonly Hex[]): Hex {
  return proof.reduce(
    (node, sibling) => keccak256(node < sibling ? concat([node, sibling]) : concat([sibling, node])),
    leaf,
  );
}

test("the least amount of a route is the first that exceeds its highest fee, for every cap", () => {
  const highestFee = (amount: bigint, ppm: number) => (amount * BigInt(ppm) + 999_999n) / 1_000_000n;
  fc.assert(
    fc.property(fc.oneof(fc.nat(999_999), fc.constantFrom(0, 1, 999_998, 999_999)), (ppm) => {
      const least = cctpV2MinAmount(ppm);
      assert.ok(highestFee(least, ppm) < least);
      if (least > 1n) assert.ok(highestFee(least - 1n, ppm) >= least - 1n);
    }),
  );
  for (const ppm of [-1, 0.5, 1_000_000, Number.NaN]) assert.throws(() => cctpV2MinAmount(ppm), RangeError);
  for (const { feePpmMax } of Object.values(cctpV2Speeds)) assert.equal(cctpV2MinAmount(feePpmMax), 2n);
});
