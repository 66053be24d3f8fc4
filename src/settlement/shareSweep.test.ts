import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { shareSweep } from "./shareSweep.ts";

test("the fee of a small burn that a sweep took along with two crossings is no more than it", () => {
  const mint = (id: bigint) => ({ id, name: `cctp-v2/1/${id}`, units: 4_000_012n, bridgeFeeUnits: 0n });
  const split = { grossUnits: 8_000_025n, feeUnits: 80_002n, otherRecipientUnits: 0n };
  const { own, crossed } = shareSweep(split, [mint(1n), mint(2n)]);
  deepEqual(
    [crossed.get(1n), crossed.get(2n), own],
    [
      { feeUnits: 40_001n, netUnits: 3_960_011n },
      { feeUnits: 40_000n, netUnits: 3_960_012n },
      { feeUnits: 1n, netUnits: 0n },
    ],
  );
});
