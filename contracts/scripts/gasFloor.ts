import { concat, numberToHex, size } from "viem";
import type { Hex } from "viem";

/** The calldata bytes of `transfer(address,uint256)`. */
const transferBytes = 68;

/**
 * Creation code of a contract that calls the token once for every 68 bytes of its calldata, and does nothing else. It
 * is the lower bound for the gas of a settlement.
 */
export function forwarderCode(token: Hex): Hex {
  const part = numberToHex(transferBytes, { size: 1 });
  const runtime = concat([
    // Copies the calldata to memory and starts at its first byte.
    "0x365f5f375f5b",
    // Calls the token with the current part.
    concat(["0x5f5f60", part, "0x835f73", token, "0x5af150"]),
    // Continues with the next part until the end of the calldata.
    concat(["0x60", part, "0x0180361160055700"]),
  ]);
  return concat(["0x60", numberToHex(size(runtime), { size: 1 }), "0x8060095f395ff3", runtime]);
}
