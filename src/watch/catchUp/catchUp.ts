import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed, type BlockRange, type ChainReader } from "../../chain/reader.ts";
import { watchedTokens } from "../../catalog/catalog.ts";
import { nearBlocks } from "../blockTime.ts";
import { storeBurningInboxes } from "../inboxes/burningInboxes.ts";
import { movementKey } from "../movement.ts";
import { FILTERED_LOGS_TARGET, isRangeTooLarge, mayBeRangeTooLarge, RangeSize } from "../search/rangeSize.ts";
import { readFilteredRange, type FilteredRange } from "./readRange.ts";
import { inboxFilter } from "../inboxes/locateTransfers.ts";
import { recordMovements, type ChainSegment } from "../record/recordMovements.ts";
import type { WatchWorld } from "../watchWorld.ts";
import type { KnownBlock } from "../store/store.ts";
import { trackConsistency } from "../providers/trackConsistency.ts";
import { logCatchUp } from "./logCatchUp.ts";

/** Ranges per call, so that a chain far behind still does its other work in between. */
const RANGES_MAX = 64;
/** Ranges read concurrently. */
const CONCURRENT_READS_MAX = 3;
/**
 * Ranges in progress or waiting to be recorded. Their located transfers are few, and waiting ranges are recorded
 * together.
 */
const BUFFERED_RANGES_MAX = 8;
/** Movements of several ranges in one transaction; a single range may have more. */
const TRANSFERS_MAX = 2_000;

const rangeSize = perChain(() => new RangeSize(FILTERED_LOGS_TARGET));

/**
 * Reads from the cursor towards the head by ranges, and commits complete ranges in order, with their end blocks.
 * Returns the new cursor position. The blocks near the head are left to be read by hash.
 */
export async function catchUp(
  world: WatchWorld,
  chain: Chain,
  { cursor, headNumber }: { cursor: KnownBlock; headNumber: bigint },
): Promise<KnownBlock> {
  const ranges = new RangeQueue(world, chain, {
    next: cursor.number + 1n,
    last: headNumber - nearBlocks(world, chain),
  });
  let at = cursor;
  logCatchUp(world, chain, { recorded: cursor.number, head: headNumber });
  try {
    for (;;) {
      const found = await ranges.next();
      if (found.length === 0) break;
      const linked = linkedRanges(found, at);
      const to = linked.at(-1)?.end ?? at;
      if (
        linked.length > 0 &&
        !(await recordMovements(world, chain, { kind: "segment", ...mergeRanges(linked, { from: at, to }) }))
      )
        break;
      at = to;
      if (linked.length < found.length)
        throw new ProviderFailed(
          "unknown_block",
          `the chain was replaced while the blocks after ${at.number} were read`,
        );
      logCatchUp(world, chain, { recorded: at.number, head: headNumber });
    }
  } finally {
    ranges.close();
  }
  return at;
}

/** The ranges up to the first block whose parent is another one than the block before. Only adjacent blocks tell. */
function linkedRanges(ranges: readonly FilteredRange[], from: KnownBlock): readonly FilteredRange[] {
  const broken = ranges.findIndex(({ end }, index) => {
    const below = ranges[index - 1]?.end ?? from;
    return end.number === below.number + 1n && end.parentHash !== below.hash;
  });
  return broken === -1 ? ranges : ranges.slice(0, broken);
}

/**
 * Merges ranges into one segment. For a transfer in several ranges the last one counts, because a reorg may lie between
 * the reads.
 */
function mergeRanges(
  ranges: readonly FilteredRange[],
  { from, to }: { from: KnownBlock; to: KnownBlock },
): ChainSegment {
  const blocks = new Map(ranges.map(({ end }) => [end.hash, end]));
  const located = new Map(ranges.flatMap((range) => range.located.map((one) => [movementKey(one), one])));
  return { from, ancestorNumber: from.number, to, blocks: [...blocks.values()], located: [...located.values()] };
}

type ReadOutcome = { found: FilteredRange } | { error: unknown };
type Pending = { range: BlockRange; outcome: Promise<ReadOutcome>; settled?: ReadOutcome };

/** Reads a few ranges ahead, returns them in order, and shrinks them when the provider refuses one. */
class RangeQueue {
  readonly #world: WatchWorld;
  readonly #chain: Chain;
  readonly #tokens: readonly string[];
  readonly #size;
  readonly #last: bigint;
  #next: bigint;
  #pending: Pending[] = [];
  #isClosed = false;
  #rangesLeft = RANGES_MAX;
  /** By provider, the check that it has the last block. */
  readonly #lastBlockChecks = new Map<string, Promise<void>>();

  constructor(world: WatchWorld, chain: Chain, { next, last }: { next: bigint; last: bigint }) {
    this.#world = world;
    this.#chain = chain;
    this.#tokens = watchedTokens(world.catalog, chain.caip2);
    this.#size = rangeSize(world, chain);
    this.#next = next;
    this.#last = last;
  }

  /** Stops reading ahead. */
  close(): void {
    this.#isClosed = true;
  }

  /** The completed ranges in order; empty when none are left. Each refusal halves the size, down to a single block. */
  async next(): Promise<FilteredRange[]> {
    for (;;) {
      this.#readAhead();
      const [first] = this.#pending;
      if (!first) return [];
      const outcome = await first.outcome;
      if ("found" in outcome) return this.#takeCompleted();
      if (!isRangeTooLarge(outcome.error)) {
        // A gateway timeout or a truncated answer gives no other hint, so the next poll asks for less.
        if (mayBeRangeTooLarge(outcome.error)) this.#size.halve();
        throw outcome.error;
      }
      if (!this.#size.shrink(outcome.error.suggestion)) throw outcome.error;
      await Promise.all(this.#pending.map((pending) => pending.outcome));
      this.#rangesLeft += this.#pending.length;
      this.#pending = [];
      this.#next = first.range.fromBlock;
    }
  }

  #takeCompleted(): FilteredRange[] {
    const read: FilteredRange[] = [];
    let locatedCount = 0;
    for (const { settled } of this.#pending) {
      if (settled === undefined || !("found" in settled)) break;
      locatedCount += settled.found.located.length;
      if (read.length > 0 && locatedCount > TRANSFERS_MAX) break;
      read.push(settled.found);
    }
    this.#pending.splice(0, read.length);
    this.#readAhead();
    return read;
  }

  /** Starts reads while others are recorded, until one fails. */
  #readAhead(): void {
    if (this.#isClosed || this.#pending.some(({ settled }) => settled && "error" in settled)) return;
    while (this.#next <= this.#last && this.#rangesLeft > 0 && this.#pending.length < BUFFERED_RANGES_MAX) {
      if (this.#pending.filter(({ settled }) => settled === undefined).length >= CONCURRENT_READS_MAX) return;
      const end = this.#next + this.#size.blocks - 1n;
      const range = { fromBlock: this.#next, toBlock: end < this.#last ? end : this.#last };
      this.#next = range.toBlock + 1n;
      this.#rangesLeft -= 1;
      this.#pending.push(this.#startRead(range));
    }
  }

  #startRead(range: BlockRange): Pending {
    const outcome = this.#readRange(range).then(
      (found): ReadOutcome => ({ found }),
      (error: unknown): ReadOutcome => ({ error }),
    );
    const pending: Pending = { range, outcome };
    pending.outcome = outcome.then((settled) => {
      pending.settled = settled;
      this.#readAhead();
      return settled;
    });
    return pending;
  }

  /**
   * A node answers ranges beyond its head with an empty list, so it must have the last block before any range is read.
   */
  #ensureHasLastBlock(reader: ChainReader): Promise<void> {
    const known = this.#lastBlockChecks.get(reader.name);
    if (known) return known;
    const proof = assertHasBlock(reader, this.#last);
    this.#lastBlockChecks.set(reader.name, proof);
    proof.catch(() => this.#lastBlockChecks.delete(reader.name));
    return proof;
  }

  async #readRange(range: BlockRange): Promise<FilteredRange> {
    const known = inboxFilter(this.#world, this.#chain.caip2);
    const work = async (reader: ChainReader) => {
      await this.#ensureHasLastBlock(reader);
      return readFilteredRange(reader, range, { tokens: this.#tokens, known });
    };
    const found = await this.#chain.providers.run(
      trackConsistency(this.#world, this.#chain, { reading: "ranges", work }),
    );
    await storeBurningInboxes(this.#world, this.#chain.caip2, found.located);
    this.#size.adjust(range, found.scannedCount);
    return found;
  }
}

async function assertHasBlock(reader: ChainReader, number: bigint): Promise<void> {
  const block = await reader.block({ number });
  if (!block) throw new ProviderFailed("unknown_block", `${reader.name} does not have block ${number}`);
}
