import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRange, type ChainDriver } from "../chain/driver.ts";
import { watchedTokens } from "../catalog/catalog.ts";
import { NEAR_BLOCKS } from "./branch.ts";
import { memoryOf } from "./memory.ts";
import { isTooLarge, mayBeTooLarge, siftRange, type SiftedRange } from "./range.ts";
import { knownInboxes, recordStretch, type WatchWorld } from "./record.ts";
import type { KnownBlock } from "./store.ts";
import { tellProgress } from "./tellProgress.ts";

/** Ranges recorded in one call, so that a chain that is far behind still looks after everything else in between. */
const RANGES_MAX = 64;
/** Ranges that are read while one is recorded. */
const READ_AHEAD = 3;

/**
 * Reads from the cursor towards the head by ranges, and commits each whole range with the block that ends it. Returns where the
 * cursor stands then. The nearest blocks are left to be read by hash.
 */
export async function catchUp(
  world: WatchWorld,
  chain: Chain,
  { cursor, headNumber }: { cursor: KnownBlock; headNumber: bigint },
): Promise<KnownBlock> {
  const ranges = new RangeQueue(world, chain, { next: cursor.number + 1n, last: headNumber - NEAR_BLOCKS });
  let at = cursor;
  tellProgress(world, chain, { recorded: cursor.number, head: headNumber });
  for (let recorded = 0; recorded < RANGES_MAX; recorded += 1) {
    const found = await ranges.take();
    if (!found) return at;
    const { end, sightings } = found;
    const stretch = { from: at, ancestorNumber: at.number, to: end, blocks: [end], sightings };
    if (!(await recordStretch(world, chain, stretch))) return at;
    at = end;
    tellProgress(world, chain, { recorded: at.number, head: headNumber });
  }
  return at;
}

type Pending = { range: BlockRange; outcome: Promise<{ found: SiftedRange } | { error: unknown }> };

/** Reads ahead by a few ranges, hands them over in their order, and makes them smaller when the provider refuses one. */
class RangeQueue {
  readonly #world: WatchWorld;
  readonly #chain: Chain;
  readonly #tokens: readonly string[];
  readonly #size;
  readonly #last: bigint;
  #next: bigint;
  #pending: Pending[] = [];
  /** Of each provider that was asked, that it knows the last block. */
  readonly #proofs = new Map<string, Promise<void>>();

  constructor(world: WatchWorld, chain: Chain, { next, last }: { next: bigint; last: bigint }) {
    this.#world = world;
    this.#chain = chain;
    this.#tokens = watchedTokens(world.catalog, chain.caip2);
    this.#size = memoryOf(chain, world.clock).rangeSize;
    this.#next = next;
    this.#last = last;
  }

  /** The next range, whole; undefined when none is left. Each refusal halves the size, so that it ends with one of a single block. */
  async take(): Promise<SiftedRange | undefined> {
    for (;;) {
      this.#readAhead();
      const first = this.#pending.shift();
      if (!first) return undefined;
      const outcome = await first.outcome;
      if ("found" in outcome) return outcome.found;
      if (!isTooLarge(outcome.error)) {
        // A gateway that gives up, or a proxy that cuts what is long, says no more than that: the next look asks for less.
        if (mayBeTooLarge(outcome.error)) this.#size.doubt();
        throw outcome.error;
      }
      if (!this.#size.shrink(outcome.error.suggestion)) throw outcome.error;
      await Promise.all(this.#pending.map((pending) => pending.outcome));
      this.#pending = [];
      this.#next = first.range.fromBlock;
    }
  }

  #readAhead(): void {
    while (this.#pending.length < READ_AHEAD && this.#next <= this.#last) {
      const end = this.#next + this.#size.blocks - 1n;
      const range = { fromBlock: this.#next, toBlock: end < this.#last ? end : this.#last };
      const outcome = this.#find(range).then(
        (found) => ({ found }),
        (error: unknown) => ({ error }),
      );
      this.#pending.push({ range, outcome });
      this.#next = range.toBlock + 1n;
    }
  }

  /** A node answers what lies beyond its head with an empty list: it must know the last block before it is asked for what stands in others. */
  #proveReach(driver: ChainDriver): Promise<void> {
    const known = this.#proofs.get(driver.name);
    if (known) return known;
    const proof = assertKnows(driver, this.#last);
    this.#proofs.set(driver.name, proof);
    proof.catch(() => this.#proofs.delete(driver.name));
    return proof;
  }

  async #find(range: BlockRange): Promise<SiftedRange> {
    const known = knownInboxes(this.#world);
    const found = await this.#chain.providers.ask(async (driver) => {
      await this.#proveReach(driver);
      return siftRange(driver, range, { tokens: this.#tokens, known });
    });
    this.#size.learn(range, found.logCount);
    return found;
  }
}

async function assertKnows(driver: ChainDriver, number: bigint): Promise<void> {
  const block = await driver.block({ number });
  if (!block) throw new ProviderFailed("unknown_block", `${driver.name} lacks block ${number}`);
}
