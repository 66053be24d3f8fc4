import { ProviderFailed, type BlockRange, type Transfer } from "../../reader.ts";
import { collectUnreadable } from "../unreadableLogs.ts";
import { LogWithoutBlock } from "./parseTransfers.ts";

// A log that does not tell its block stands in the range that was asked for. Of a single block, the request tells it.

/**
 * Requests for one range: enough for a few such logs among two thousand blocks. A provider with more of them gives
 * wrong answers.
 */
const REQUESTS_MAX = 100;

/** Reads a range in halves, and these again, until every log's block is known. */
export async function readInParts(
  range: BlockRange,
  read: (part: BlockRange) => Promise<Transfer[]>,
): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  const unreadable = collectUnreadable();
  const parts = halves(range);
  for (let requests = 0; requests < REQUESTS_MAX; requests += 1) {
    const part = parts.shift();
    if (part === undefined) {
      unreadable.throwIfAny();
      return transfers;
    }
    try {
      transfers.push(...(await read(part)));
    } catch (error) {
      if (error instanceof LogWithoutBlock && part.fromBlock < part.toBlock) parts.unshift(...halves(part));
      else if (error instanceof ProviderFailed && error.kind === "unreadable") error.unreadable.forEach(unreadable.add);
      else throw error;
    }
  }
  throw new ProviderFailed("bad_answer", "the provider's answers of logs hold many that do not tell their block");
}

function halves({ fromBlock, toBlock }: BlockRange): BlockRange[] {
  const middle = (fromBlock + toBlock) / 2n;
  return [
    { fromBlock, toBlock: middle },
    { fromBlock: middle + 1n, toBlock },
  ];
}
