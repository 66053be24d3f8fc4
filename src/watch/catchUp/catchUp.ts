import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRange, type ChainReader } from "../../chain/reader.ts";
import { watchedTokens } from "../../catalog/catalog.ts";
import { NEAR_BLOCKS } from "../follow/readBranch.ts";
import { getChainMemory } from "../chainMemory.ts";
import { movementKey } from "../movement.ts";
import { isRangeTooLarge, mayBeRangeTooLarge, readFilteredRange, type FilteredRange } from "./readRange.ts";
import { inboxFilter, applySegment, type ChainSegment, type WatchWorld } from "../store/applySegment.ts";
import type { KnownBlock } from "../store/store.ts";
import { logCatchUp } from "./logCatchUp.ts";

/** Ranges recorded in one call, so that a chain that is far behind still looks after everything else in between. */
const RANGES_MAX = 64;
/** Ranges that are read at a time. */
const CONCURRENT_READS_MAX = 3;
/** Ranges that are read or wait to be recorded: what was found in them is little, and those that wait are recorded together. */
const BUFFERED_RANGES_MAX = 8;
/** Movements of several ranges in one transaction; a range by itself may have more. */
const TRANSFERS_MAX = 2_000;

/**
 * Reads from the cursor towards the head by ranges, and commits whole ranges, in their order, with the blocks that end them. Returns where
 * the cursor stands then. The nearest blocks are left to be read by hash.
 */
export async function catchUp(
  world: WatchWorld,
  chain: Chain,
  { cursor, headNumber }: { cursor: KnownBlock; headNumber: bigint },
): Promise<KnownBlock> {
  const ranges = new RangeQueue(world, chain, { next: cursor.number + 1n, last: headNumber - NEAR_BLOCKS });
  let at = cursor;
  logCatchUp(world, chain, { recorded: cursor.number, head: headNumber });
  try {
    for (;;) {
      const found = await ranges.next();
      const to = found.at(-1)?.end;
      if (to === undefined) break;
      if (!(await applySegment(world, chain, mergeRanges(found, { from: at, to })))) break;
      at = to;
      logCatchUp(world, chain, { recorded: at.number, head: headNumber });
    }
  } finally {
    ranges.close();
  }
  return at;
}

/** Ranges as one stretch. What several of them tell of is as the last one has it: they may have been read on different branches. */
function mergeRanges(
  ranges: readonly FilteredRange[],
  { from, to }: { from: KnownBlock; to: KnownBlock },
): ChainSegment {
  const blocks = new Map(ranges.map(({ end }) => [end.hash, end]));
  const sightings = new Map(ranges.flatMap((range) => range.located.map((one) => [movementKey(one), one])));
  return { from, ancestorNumber: from.number, to, blocks: [...blocks.values()], located: [...sightings.values()] };
}

type ReadOutcome = { found: FilteredRange } | { error: unknown };
type Pending = { range: BlockRange; outcome: Promise<ReadOutcome>; settled?: ReadOutcome };

/** Reads ahead by a few ranges, hands them over in their order, and makes them smaller when the provider refuses one. */
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
  /** Of each provider that was asked, that it knows the last block. */
  readonly #lastBlockChecks = new Map<string, Promise<void>>();

  constructor(world: WatchWorld, chain: Chain, { next, last }: { next: bigint; last: bigint }) {
    this.#world = world;
    this.#chain = chain;
    this.#tokens = watchedTokens(world.catalog, chain.caip2);
    this.#size = getChainMemory(world, chain).rangeSize;
    this.#next = next;
    this.#last = last;
  }

  /** Nothing more is read ahead. */
  close(): void {
    this.#isClosed = true;
  }

  /** The next ranges, whole, as many as have been read; none when none are left. Each refusal halves the size, so that it ends with one of a single block. */
  async next(): Promise<FilteredRange[]> {
    for (;;) {
      this.#readAhead();
      const [first] = this.#pending;
      if (!first) return [];
      const outcome = await first.outcome;
      if ("found" in outcome) return this.#takeCompleted();
      if (!isRangeTooLarge(outcome.error)) {
        // A gateway that gives up, or a proxy that cuts what is long, says no more than that: the next look asks for less.
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
    let sightings = 0;
    for (const { settled } of this.#pending) {
      if (settled === undefined || !("found" in settled)) break;
      sightings += settled.found.located.length;
      if (read.length > 0 && sightings > TRANSFERS_MAX) break;
      read.push(settled.found);
    }
    this.#pending.splice(0, read.length);
    this.#readAhead();
    return read;
  }

  /** Goes on by itself while others are recorded, until something fails. */
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

  /** A node answers what lies beyond its head with an empty list: it must know the last block before it is asked for what stands in others. */
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
    const found = await this.#chain.providers.ask(async (reader) => {
      await this.#ensureHasLastBlock(reader);
      return readFilteredRange(reader, range, { tokens: this.#tokens, known });
    });
    this.#size.adjust(range, found.scannedCount);
    return found;
  }
}

async function assertHasBlock(reader: ChainReader, number: bigint): Promise<void> {
  const block = await reader.block({ number });
  if (!block) throw new ProviderFailed("unknown_block", `${reader.name} lacks block ${number}`);
}
