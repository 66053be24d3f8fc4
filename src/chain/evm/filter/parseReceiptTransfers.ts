import { ProviderFailed, type Transfer, type TransferScope } from "../../reader.ts";
import { parseArray, parseObject } from "../../rpc/jsonValues.ts";
import { parseHash, parseQuantity } from "../rpc/rpcValues.ts";
import { parseTransfers, TRANSFER_TOPIC } from "./parseTransfers.ts";

export type BlockWithReceipts = {
  /** From eth_getBlockBy…, with transaction hashes. */
  block: unknown;
  /** From eth_getBlockReceipts. */
  receipts: unknown;
};

/**
 * Parses the transfers of `tokens` in all receipts of one block. The answer itself does not prove completeness, so
 * every transaction of the block must have a receipt, and every receipt must belong to the block.
 */
export function parseReceiptTransfers(
  response: BlockWithReceipts,
  scope: TransferScope,
  tokens: readonly string[],
): Transfer[] {
  const block = parseObject(response.block, "a block");
  const blockHash = parseHash(block["hash"], "a block hash");
  const blockNumber = parseQuantity(block["number"], "a block number");
  if ("blockHash" in scope && (blockHash !== scope.blockHash || blockNumber !== scope.blockNumber))
    throw invalidReceipts("bad_answer", "are of another block");
  const receipts = parseArray(response.receipts, "receipts").map((receipt) => parseObject(receipt, "a receipt"));
  // A block requested by number may be replaced between the two answers.
  if (receipts.some((receipt) => parseHash(receipt["blockHash"], "a block hash") !== blockHash))
    throw invalidReceipts("unknown_block", "are of another block than its header");
  if (receipts.some((receipt) => parseQuantity(receipt["blockNumber"], "a block number") !== blockNumber))
    throw invalidReceipts("contradictory", "name another number than their block's");
  const receiptTxs = new Set(receipts.map((receipt) => parseHash(receipt["transactionHash"], "a transaction hash")));
  const mined = parseArray(block["transactions"], "a block's transactions");
  if (mined.some((chainTx) => !receiptTxs.has(parseHash(chainTx, "a transaction hash"))))
    throw invalidReceipts("bad_answer", "leave out transactions of their block");
  const tokenSet = new Set(tokens);
  const logs = receipts.flatMap((receipt) => parseArray(receipt["logs"], "a receipt's logs"));
  return parseTransfers(
    logs.filter((log) => isTransferLog(log, tokenSet)),
    scope,
    tokens,
  );
}

function isTransferLog(answer: unknown, tokens: ReadonlySet<string>): boolean {
  const log = parseObject(answer, "a log");
  const [event] = parseArray(log["topics"], "a log's topics");
  return event === TRANSFER_TOPIC && tokens.has(String(log["address"]).toLowerCase());
}

function invalidReceipts(kind: "bad_answer" | "contradictory" | "unknown_block", what: string): ProviderFailed {
  return new ProviderFailed(kind, `the receipts of a block that a provider sent ${what}`);
}
