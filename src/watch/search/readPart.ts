import type { Detection } from "../../chain/chain.ts";
import type { BlockRange, ChainReader, ProviderFailed, Transfer } from "../../chain/reader.ts";
import { lowestOf } from "../../kernel/extremes.ts";
import { isRangeTooLarge } from "./rangeSize.ts";

type PartOptions = {
  /** The end of the range where the part is. */
  end: "oldest" | "newest";
  /** Blocks of the first attempt; by default all. */
  blocks?: bigint;
  attemptsMax: number;
  /** The blocks of the next attempt; undefined to give up. By default the suggested number, or half. */
  shorten?: (blocks: bigint, refusal: ProviderFailed) => bigint | undefined;
};

/** Reads the longest part of a range that is accepted. Undefined when even a short one is refused, or when it is empty. */
export async function readPart<T>(
  { fromBlock, toBlock }: BlockRange,
  { end, blocks, attemptsMax, shorten = shorterPart }: PartOptions,
  read: (part: BlockRange) => Promise<T>,
): Promise<{ part: BlockRange; answer: T } | undefined> {
  const whole = toBlock - fromBlock + 1n;
  if (whole < 1n) return undefined;
  let size = lowestOf(blocks ?? whole, whole);
  for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
    const part =
      end === "oldest" ? { fromBlock, toBlock: fromBlock + size - 1n } : { fromBlock: toBlock - size + 1n, toBlock };
    try {
      return { part, answer: await read(part) };
    } catch (error) {
      if (!isRangeTooLarge(error)) throw error;
      const shorter = shorten(size, error);
      if (shorter === undefined) return undefined;
      if (size === 1n) throw error;
      size = shorter;
    }
  }
  return undefined;
}

export function shorterPart(blocks: bigint, { suggestion }: ProviderFailed): bigint {
  const suggested = suggestion?.blocks ?? 0n;
  return suggested >= 1n && suggested < blocks ? suggested : blocks / 2n;
}

/** Queries for few inboxes are cheap over long ranges; a provider that refuses them gets shorter ones. */
const RANGE_BLOCKS_START = 10_000n;

type InboxesQuery = {
  detection: Detection;
  range: BlockRange;
  tokens: readonly string[];
  inboxes: readonly string[];
  requestsMax: number;
};

/** The transfers of inboxes in a range, part after part. `nextBlock`: where the next call begins; undefined at the end. */
export async function readInboxTransfers(
  reader: ChainReader,
  { detection, range, tokens, inboxes, requestsMax }: InboxesQuery,
): Promise<{ transfers: Transfer[]; nextBlock: bigint | undefined }> {
  const transfers: Transfer[] = [];
  // Where balances show deposits, the transactions of an inbox are listed, whatever the range.
  let blocks = detection === "blocks" ? RANGE_BLOCKS_START : range.toBlock + 1n;
  let next = range.fromBlock;
  const shorten = (refused: bigint, refusal: ProviderFailed) => (blocks = shorterPart(refused, refusal));
  for (let requests = 0; next <= range.toBlock && requests < requestsMax; requests += 1) {
    const left = { fromBlock: next, toBlock: range.toBlock };
    const read = await readPart(left, { end: "oldest", blocks, attemptsMax: 1, shorten }, (part) =>
      reader.transfers(part, tokens, inboxes),
    );
    if (read === undefined) continue;
    transfers.push(...read.answer);
    next = read.part.toBlock + 1n;
  }
  return { transfers, nextBlock: next <= range.toBlock ? next : undefined };
}
