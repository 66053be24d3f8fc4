import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { concat, encodeAbiParameters, keccak256 } from "viem";
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
