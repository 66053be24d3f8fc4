import type { RpcRequester } from "./rpcRequester.ts";

// Searches a chain's logs over many blocks. Nodes limit blocks and results of one search in different ways and words.

export type LogFilter = {
  /** Absent: logs of every contract. */
  readonly address?: string;
  readonly topics: readonly (string | null | readonly string[])[];
};

export type FoundLogs = {
  readonly logs: readonly unknown[];
  /** False where the node refused a part, so that logs are missing. */
  readonly isComplete: boolean;
};

export type LogSearch = (filter: LogFilter) => Promise<FoundLogs>;

/**
 * A refused search is halved this often. What a node still refuses then is a limit of blocks, which halving does not
 * reach.
 */
const HALVINGS_MAX = 5;
/** Requests of one inspection beyond the first of each search. */
const SPLITS_MAX = 64;

export function openLogSearch(
  request: RpcRequester,
  { fromBlock, head }: { fromBlock: bigint; head: bigint },
): LogSearch {
  let splitsLeft = SPLITS_MAX;

  /** The logs of the blocks; undefined where the node refuses. */
  async function search(filter: LogFilter, from: bigint, to: bigint): Promise<readonly unknown[] | undefined> {
    // The newest block moves on meanwhile, and belongs to the last part.
    const toBlock = to === head ? "latest" : `0x${to.toString(16)}`;
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock };
    const logs = await request("eth_getLogs", [{ ...filter, ...range }]).catch(() => undefined);
    return Array.isArray(logs) ? (logs as unknown[]) : undefined;
  }

  async function searchParts(
    filter: LogFilter,
    { from, to, depth }: { from: bigint; to: bigint; depth: number },
  ): Promise<FoundLogs> {
    const logs = await search(filter, from, to);
    if (logs !== undefined) return { logs, isComplete: true };
    if (depth === HALVINGS_MAX || from >= to || splitsLeft < 2) {
      splitsLeft = 0;
      return { logs: [], isComplete: false };
    }
    splitsLeft -= 2;
    const middle = (from + to) / 2n;
    const older = await searchParts(filter, { from, to: middle, depth: depth + 1 });
    if (!older.isComplete) return older;
    const newer = await searchParts(filter, { from: middle + 1n, to, depth: depth + 1 });
    return { logs: [...older.logs, ...newer.logs], isComplete: newer.isComplete };
  }

  return (filter) => searchParts(filter, { from: fromBlock, to: head > fromBlock ? head : fromBlock, depth: 0 });
}
