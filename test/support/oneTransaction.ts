import { concatHex, encodeFunctionData, getContractAddress, numberToHex, parseAbi, size, type Hex } from "viem";
import type { DevAccount } from "../../src/dev/devAccounts.ts";
import type { TestChain } from "./chain.ts";

// Several calls in one transaction, as any stranger can send them: a contract whose constructor makes the calls.

export type InnerCall = { to: Hex; data: Hex };

/** A token's transfer from the contract. */
export function transferCall(token: Hex, to: string, units: bigint): InnerCall {
  const abi = parseAbi(["function transfer(address to, uint256 units)"]);
  return { to: token, data: encodeFunctionData({ abi, args: [to as Hex, units] }) };
}

/** Copies the call's data to memory, calls, and jumps to an invalid place when the call reverted. */
const CALL_BYTES = 48;
const GAS_LIMIT = 4_000_000n;

/** The constructor code that makes the calls in order, and reverts when one of them does. */
function encodeCalls(calls: readonly InnerCall[]): Hex {
  let offset = calls.length * CALL_BYTES + 1;
  const parts = calls.map(({ to, data }) => {
    const [length, start] = [numberToHex(size(data), { size: 2 }), numberToHex(offset, { size: 2 })];
    offset += size(data);
    const copy = concatHex(["0x61", length, "0x61", start, "0x6000", "0x39"]);
    const call = concatHex(["0x60006000", "0x61", length, "0x60006000", "0x73", to, "0x5a", "0xf1"]);
    return concatHex([copy, call, "0x15", "0x61ffff", "0x57"]);
  });
  return concatHex([...parts, "0x00", ...calls.map(({ data }) => data)]);
}

/**
 * The contract that the account's next transaction creates. Whatever it shall transfer must be sent to it first, by
 * another account.
 */
export async function nextContract(chain: TestChain, account: DevAccount): Promise<Hex> {
  const nonce = await chain.client.getTransactionCount({ address: account.address });
  return getContractAddress({ from: account.address, nonce: BigInt(nonce) });
}

/** Makes the calls in one transaction of the account. Throws when it reverts. */
export async function callInOneTransaction(
  chain: TestChain,
  account: DevAccount,
  calls: readonly InnerCall[],
): Promise<void> {
  const [receipt] = await chain.send(account, [{ data: encodeCalls(calls), gasLimit: GAS_LIMIT }]);
  if (receipt?.status !== "success") throw new Error("the transaction reverted");
}
