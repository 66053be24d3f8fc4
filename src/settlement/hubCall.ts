import { decodeFunctionResult, encodeFunctionData, parseAbi, type Address, type Hex } from "viem";
import type { ChainCall } from "../chain/driver.ts";
import { inboxTermsOf } from "../intent/terms.ts";
import type { IntentRow } from "../intent/store.ts";

const abi = parseAbi([
  "struct Terms { bytes32 salt; uint64 settleChainId; address settleToken; address payout; address feeRecipient; uint16 feeBps; address recovery; uint48 recoverAfter; bytes32 routesRoot; }",
  "function settle(Terms terms) returns (uint256 gross)",
  "function settleMany(Terms[] items) returns (bytes4[] failures)",
]);

type SettleTerms = {
  salt: Hex;
  settleChainId: bigint;
  settleToken: Address;
  payout: Address;
  feeRecipient: Address;
  feeBps: number;
  recovery: Address;
  recoverAfter: number;
  routesRoot: Hex;
};

function settleTerms(intent: IntentRow): SettleTerms {
  return inboxTermsOf(intent);
}

/** Settles one inbox, or several in one transaction, each on its own. All are inboxes of the same hub. */
export function settleCall(hub: string, intents: readonly IntentRow[]): ChainCall {
  const [only] = intents;
  if (intents.length === 1 && only) {
    return { to: hub, data: encodeFunctionData({ abi, functionName: "settle", args: [settleTerms(only)] }) };
  }
  return settleManyCall(hub, intents);
}

/** Always by settleMany, whose answer says of each item whether it would settle. */
export function settleManyCall(hub: string, intents: readonly IntentRow[]): ChainCall {
  return { to: hub, data: encodeFunctionData({ abi, functionName: "settleMany", args: [intents.map(settleTerms)] }) };
}

/** For each item the selector of the error that it would fail with; undefined where it would settle. */
export function decodeFailures(result: string): (string | undefined)[] {
  const failures = decodeFunctionResult({ abi, functionName: "settleMany", data: result as Hex });
  return failures.map((selector) => (selector === "0x00000000" ? undefined : selector));
}
