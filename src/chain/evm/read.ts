import { ProviderFailed, type BlockRef, type ChainReceipt, type ReceiptPosition } from "../driver.ts";
import { isBloom } from "./bloom.ts";
import { hash, list, quantity, record, smallQuantity } from "./hex.ts";

/** A block header as eth_getBlockBy… answers it. */
export function readBlock(answer: unknown): BlockRef {
  const block = record(answer, "a block");
  const { logsBloom: bloom } = block;
  return {
    number: quantity(block["number"], "a block number"),
    hash: hash(block["hash"], "a block hash"),
    parentHash: hash(block["parentHash"], "a parent hash"),
    timestampS: smallQuantity(block["timestamp"], "a block's time"),
    ...(isBloom(bloom) ? { logsDigest: bloom } : {}),
  };
}

/** The receipt of `chainTx`. */
export function readReceipt(answer: unknown, chainTx: string): ChainReceipt {
  const receipt = record(answer, "a receipt");
  if (hash(receipt["transactionHash"], "a transaction hash") !== chainTx) {
    throw new ProviderFailed("bad_answer", "the provider answered with the receipt of another transaction");
  }
  return {
    chainTx,
    blockNumber: quantity(receipt["blockNumber"], "a block number"),
    blockHash: hash(receipt["blockHash"], "a block hash"),
    succeeded: quantity(receipt["status"], "a receipt's status") === 1n,
    gasUsed: quantity(receipt["gasUsed"], "an amount of gas"),
  };
}

/** Where the logs of a transaction begin in its block; undefined when it has none, so that no transfer can stand in it. */
export function readPosition(answer: unknown, chainTx: string): ReceiptPosition | undefined {
  const { blockHash, succeeded } = readReceipt(answer, chainTx);
  const [first] = list(record(answer, "a receipt")["logs"], "a receipt's logs");
  if (first === undefined) return undefined;
  const logIndexFirst = smallQuantity(record(first, "a log")["logIndex"], "a log's index");
  return { chainTx, blockHash, succeeded, logIndexFirst };
}
