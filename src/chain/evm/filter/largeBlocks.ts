import { ProviderFailed, type Transfer, type TransferScope } from "../../reader.ts";
import { parseArray, parseObject } from "../../rpc/jsonValues.ts";
import type { RpcCall } from "../../rpc/jsonRpcClient.ts";
import { toReceiptCall } from "../rpc/calls.ts";
import { parseHash } from "../rpc/rpcValues.ts";

// A block whose logs exceed a provider's limit is read in parts.

export function isBlockTooLarge(scope: TransferScope, error: unknown): error is ProviderFailed {
  const isOneBlock = "blockHash" in scope || scope.fromBlock === scope.toBlock;
  return isOneBlock && isRangeTooLarge(error);
}

export function isRangeTooLarge(error: unknown): error is ProviderFailed {
  return error instanceof ProviderFailed && error.kind === "range_too_large";
}

/** A refusal of the smallest request counts as a timeout: retry later, and use another provider now. */
export async function failOverIfTooLarge<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!isRangeTooLarge(error)) throw error;
    throw new ProviderFailed("timeout", error.message, { cause: error });
  }
}

/** The receipts of a block's transactions, one by one; some providers have no other way. */
export async function fetchSingleReceipts(
  name: string,
  block: unknown,
  requestAll: (calls: readonly RpcCall[]) => Promise<unknown[]>,
): Promise<unknown[]> {
  const mined = parseArray(parseObject(block, "a block")["transactions"], "a block's transactions");
  const receipts = await requestAll(mined.map((chainTx) => toReceiptCall(parseHash(chainTx, "a transaction hash"))));
  if (receipts.includes(null))
    throw new ProviderFailed("unknown_block", `${name} does not have every receipt of a block`);
  return receipts;
}

/** The parts of a block requested by number may come from before and after a reorg. */
export function assertSameBlock(transfers: Transfer[]): Transfer[] {
  if (new Set(transfers.map(({ blockHash }) => blockHash)).size <= 1) return transfers;
  throw new ProviderFailed("unknown_block", "a block was replaced while its parts were read");
}

/** A transfer between two of the parties matches both filters. */
export function dedupeTransfers(transfers: readonly Transfer[]): Transfer[] {
  return [...new Map(transfers.map((transfer) => [`${transfer.blockHash}/${transfer.place}`, transfer])).values()];
}
