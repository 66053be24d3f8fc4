import {
  ProviderFailed,
  type BlocksWithTransfers,
  type BlockRef,
  type BlockRange,
  type Skipping,
  type Transfer,
} from "../reader.ts";
import type { JsonRpcClient, RpcCall } from "../rpc/jsonRpcClient.ts";
import { RpcError } from "../rpc/rpcError.ts";
import { LogWithoutBlock, parseTransfers, transferFilters } from "./filter/parseTransfers.ts";
import { parseBlock } from "./rpc/parseBlock.ts";
import { toHex } from "./rpc/rpcValues.ts";

// Reads new blocks and their transfers together. A node answers a range beyond its head with fewer logs and no error,
// so the header of the range's last block must come before and after the logs, from the same provider in one batch, and
// each log must name the hash of its block.

/** The header before, the logs, and the header after. */
const FRAME_CALLS = 3;

/** `isEndOnly`: of the blocks only the last. */
export type RangeRequest = BlockRange & Skipping & { tokens: readonly string[]; isEndOnly?: boolean };

/**
 * Undefined where the provider takes no such batch, and where a log does not tell its block: each block is then read by
 * its hash.
 */
export async function readRangeOfBlocks(
  rpc: JsonRpcClient,
  request: RangeRequest,
): Promise<BlocksWithTransfers | undefined> {
  const last = headerCall(request.toBlock);
  const others: RpcCall[] = [];
  const from = request.isEndOnly === true ? request.toBlock : request.fromBlock;
  for (let number = from; number < request.toBlock; number += 1n) others.push(headerCall(number));
  const [filter] = transferFilters(request, request.tokens);
  const frame: RpcCall[] = [last, ["eth_getLogs", [filter]], last];
  const fits = others.length + FRAME_CALLS <= rpc.batchMax;
  // Where a batch may be short, the headers come in batches of their own: only the frame must be one.
  const headers = fits ? [] : await rpc.requestAll(others);
  const answers = await rpc.requestTogether(fits ? [...frame, ...others] : frame);
  if (answers === undefined) return undefined;
  const [before, logs, after] = answers;
  const blocks = [...headers, ...answers.slice(FRAME_CALLS)].map((answer) => toBlock(rpc.host, answer));
  const end = toBlock(rpc.host, before);
  if (end.hash !== toBlock(rpc.host, after).hash || end.number !== request.toBlock)
    throw replaced(rpc.host, request.toBlock);
  if (logs instanceof RpcError) throw logs;
  const transfers = tryParse(logs, request);
  if (transfers === undefined) return undefined;
  const all = [...blocks, end];
  const hashOf = new Map(all.map(({ number, hash }) => [number, hash]));
  for (const { blockNumber, blockHash } of transfers)
    if (blockNumber >= from && hashOf.get(blockNumber) !== blockHash) throw replaced(rpc.host, blockNumber);
  return { blocks: all, transfers };
}

function tryParse(logs: unknown, request: RangeRequest): Transfer[] | undefined {
  try {
    return parseTransfers(logs, request, request.tokens);
  } catch (error) {
    if (error instanceof LogWithoutBlock) return undefined;
    throw error;
  }
}

function headerCall(number: bigint): RpcCall {
  return ["eth_getBlockByNumber", [toHex(number), false]];
}

function toBlock(host: string, answer: unknown): BlockRef {
  if (answer instanceof RpcError) throw answer;
  if (answer === null) throw new ProviderFailed("unknown_block", `${host} does not have a new block yet`);
  return parseBlock(answer);
}

function replaced(host: string, number: bigint): ProviderFailed {
  return new ProviderFailed("unknown_block", `${host} replaced block ${number} while it was read`);
}
