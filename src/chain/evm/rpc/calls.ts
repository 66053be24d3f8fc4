import type { RpcCall } from "../../rpc/jsonRpcClient.ts";
import type { SimulatedCall } from "../node.ts";
import { toHex } from "./rpcValues.ts";

// Calls in the form of JSON-RPC.

export function toBlockCall(at: { number: bigint } | { hash: string }): RpcCall {
  return "hash" in at ? ["eth_getBlockByHash", [at.hash, false]] : ["eth_getBlockByNumber", [toHex(at.number), false]];
}

export function toReceiptCall(chainTx: string): RpcCall {
  return ["eth_getTransactionReceipt", [chainTx]];
}

export function toCallParameter({ gas, ...call }: SimulatedCall): object {
  return gas === undefined ? call : { ...call, gas: toHex(gas) };
}
