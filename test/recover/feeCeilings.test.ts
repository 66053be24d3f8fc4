import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultFeeCeiling } from "../../packages/recover/src/gasPrice.ts";
import { listKnownChains, MAX_FEE_PER_GAS_DEFAULT } from "../../src/config/knownChains.ts";

test("recovery has the fee ceilings of the service on every network", () => {
  const differing = listKnownChains().filter(
    ({ chainId, maxFeePerGas }) => maxFeePerGas !== defaultFeeCeiling(BigInt(chainId)),
  );
  assert.deepEqual(
    differing.map(({ slug }) => slug),
    [],
  );
  assert.equal(defaultFeeCeiling(900_001n), MAX_FEE_PER_GAS_DEFAULT);
});
