import { ProviderFailed, type BlockRef, type TransactionProof } from "../../reader.ts";
import type { EvmReceipt } from "../node.ts";
import { parseProvenCrossings, type BridgeContracts } from "../bridge/provenCrossings.ts";
import { createProof } from "../proof.ts";
import { isBloom } from "../filter/logsBloom.ts";
import { parseProvenTransfers } from "../filter/parseTransfers.ts";
import { parseArray, parseObject } from "../../rpc/jsonValues.ts";
import { parseHash, parseQuantity, parseSafeInteger } from "./rpcValues.ts";

/** Parses a block header of eth_getBlockBy…. */
export function parseBlock(answer: unknown): BlockRef {
  const block = parseObject(answer, "a block");
  const { logsBloom: bloom, settledHeight } = block;
  // A header that names the height up to which it settles has the bloom of the blocks that it settles.
  const isOwnBloom = settledHeight === undefined || settledHeight === null;
  return {
    number: parseQuantity(block["number"], "a block number"),
    hash: parseHash(block["hash"], "a block hash"),
    parentHash: parseHash(block["parentHash"], "a parent hash"),
    timestampS: parseSafeInteger(block["timestamp"], "a block's time"),
    ...(isOwnBloom && isBloom(bloom) ? { digest: bloom } : {}),
  };
}

/** Parses the receipt of `chainTx`. */
export function parseReceipt(answer: unknown, chainTx: string): EvmReceipt {
  const receipt = parseObject(answer, "a receipt");
  if (parseHash(receipt["transactionHash"], "a transaction hash") !== chainTx) {
    throw new ProviderFailed("bad_answer", "the provider answered with the receipt of another transaction");
  }
  return {
    chainTx,
    blockNumber: parseQuantity(receipt["blockNumber"], "a block number"),
    blockHash: parseHash(receipt["blockHash"], "a block hash"),
    succeeded: parseQuantity(receipt["status"], "a receipt's status") === 1n,
    gasUsed: parseQuantity(receipt["gasUsed"], "an amount of gas"),
  };
}

/** Parses the receipt of `chainTx` into a proof. */
export function parseProof(answer: unknown, chainTx: string, bridge?: BridgeContracts): TransactionProof {
  const { blockNumber, blockHash, succeeded } = parseReceipt(answer, chainTx);
  const logs = parseArray(parseObject(answer, "a receipt")["logs"], "a receipt's logs");
  const indexes = logs.map((log) => parseLogIndexOf(parseObject(log, "a log"), { chainTx, blockNumber, blockHash }));
  const [logIndexFirst] = indexes;
  if (indexes.some((index, place) => index !== (logIndexFirst ?? 0) + place))
    throw new ProviderFailed("contradictory", "the provider sent a receipt whose logs are not numbered in order");
  const transfers = () => parseProvenTransfers(logs);
  return createProof({
    chainTx,
    blockNumber,
    blockHash,
    succeeded,
    logIndexFirst,
    logCount: indexes.length,
    transfers,
    ...(bridge && { crossings: () => parseProvenCrossings(logs, bridge) }),
  });
}

/** The index of a receipt's log, which must name the transaction and the block of its receipt. */
function parseLogIndexOf(
  log: Readonly<Record<string, unknown>>,
  receipt: Pick<EvmReceipt, "chainTx" | "blockNumber" | "blockHash">,
): number {
  const isOfReceipt =
    parseHash(log["transactionHash"], "a log's transaction") === receipt.chainTx &&
    parseHash(log["blockHash"], "a log's block") === receipt.blockHash &&
    parseQuantity(log["blockNumber"], "a log's block number") === receipt.blockNumber;
  if (!isOfReceipt)
    throw new ProviderFailed("contradictory", "the provider sent a receipt with a log of another block");
  return parseSafeInteger(log["logIndex"], "a log's index");
}

/** @throws ProviderFailed `bad_answer` where it is another block than the requested one. */
export function parseExpectedBlock(host: string, at: { number: bigint } | { hash: string }, answer: unknown): BlockRef {
  const block = parseBlock(answer);
  const isAsked = "hash" in at ? block.hash === at.hash : block.number === at.number;
  if (!isAsked) throw new ProviderFailed("bad_answer", `${host} answered with another block than the requested one`);
  return block;
}
