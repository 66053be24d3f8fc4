import type { Hex } from "@tributary/inbox/terms";
import { parseQuantity } from "./abi.ts";
import { isReceiveCall } from "./bridge/bridgeCalls.ts";
import { isSettleManyCall, type ContractCall } from "./contractCalls.ts";
import { initialGasLimit, raiseGasLimit, TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import type { RpcRequester } from "./rpc/rpcRequester.ts";

/**
 * Finds the gas limit of a call. Several inboxes, and a receipt, are simulated at the limit, which must do the same as
 * plenty of gas does. Rejects when the chain refuses the call.
 */
export async function findGasLimit(request: RpcRequester, from: Hex, call: ContractCall): Promise<bigint> {
  // Some nodes estimate on pending transactions, and one of those may create the inbox only after this call.
  const estimated = parseQuantity(await request("eth_estimateGas", [{ from, ...call }, "latest"]), "its gas");
  const first = initialGasLimit(estimated, TRANSACTION_GAS_MAX);
  if (!isSettleManyCall(call) && !isReceiveCall(call)) return first;
  const gasMax = await readGasMax(request);
  const simulate = async (gas: bigint) =>
    String(await request("eth_call", [{ from, ...call, gas: `0x${gas.toString(16)}` }, "latest"]).catch(() => "0x"));
  const resultWithPlenty = await simulate(gasMax);
  let limit: bigint | undefined = first;
  while (limit !== undefined && (await simulate(limit)) !== resultWithPlenty) limit = raiseGasLimit(limit, gasMax);
  return limit ?? gasMax;
}

async function readGasMax(request: RpcRequester): Promise<bigint> {
  const block = await request("eth_getBlockByNumber", ["latest", false]);
  const gasLimit: unknown = typeof block === "object" && block !== null ? Reflect.get(block, "gasLimit") : undefined;
  const blockGasLimit = parseQuantity(gasLimit, "its gas limit");
  return blockGasLimit < TRANSACTION_GAS_MAX ? blockGasLimit : TRANSACTION_GAS_MAX;
}
