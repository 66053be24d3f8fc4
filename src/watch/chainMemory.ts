import type { Chain } from "../chain/chain.ts";
import type { BlockRef } from "../chain/reader.ts";
import type { Namespace } from "../kernel/caip.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import { PARSED_LOGS_TARGET, FILTERED_LOGS_TARGET, RangeSize } from "./catchUp/readRange.ts";
import type { ProgressSample } from "./catchUp/pace.ts";
import type { KnownBlock } from "./store/store.ts";
import { WatchedInboxes } from "./inboxes/watchedInboxes.ts";

/** A block that was read as empty against the word of its header. */
export type SuspectBlock = { block: BlockRef; attempts: number; dueAtMs: number };

/** Of a provider that objects to where the cursor stands. */
export type Objection = {
  /** Since when, and where its head was then. */
  sinceMs: number;
  sinceNumber: bigint;
  /** Where its head is, and when it was last seen to move. */
  headNumber: bigint;
  movedAtMs: number;
  /** Whether it merely stands still far behind. */
  isStuck: boolean;
};

/** What a process remembers between two looks at a chain. It only saves work: without it the same rows are written. */
export type ChainMemory = {
  /** Of ranges on the way to the head, of those that are read a second time, and of those that are asked about when a payer looks. */
  readonly rangeSize: RangeSize;
  readonly rereadSize: RangeSize;
  readonly hintSize: RangeSize;
  /** Where the cursor stood when this process last read or moved it. Another process may have moved it since: the database decides. */
  cursor: KnownBlock | undefined;
  /** Heads that were told of and not looked at yet. */
  readonly pushedHeads: BlockRef[];
  /** Blocks that are to be asked for again, by their hashes. */
  readonly suspectBlocks: Map<string, SuspectBlock>;
  /** Blocks were recorded since the chain was last asked how final it is. */
  isFinalityDue: boolean;
  /** When a provider last told of a new block, on the monotonic clock. */
  lastBlockAtMs: number;
  /** When the providers were last asked what they think of the cursor, and whether more than one answered. */
  comparedAtMs: number;
  hasMultipleReplies: boolean;
  /** Which provider objects to it. */
  objections: ReadonlyMap<string, Objection>;
  /** Whether it was told that heads are not followed because of that. */
  isHoldLogged: boolean;
  /** Whether the alarm about it was given already. */
  isDisputeLogged: boolean;
  /** Of which hints of payers the last ones were looked at: what expires later is new. */
  hintsScannedUpTo: Date | undefined;
  /** When that was, on the monotonic clock. */
  hintsScannedAtMs: number;
  /** When providers were last asked about something final that one of them told otherwise, on the monotonic clock. */
  conflictsCheckedAtMs: number;
  /** Until when final blocks are not read again, because too few providers could. */
  rereadPausedUntilMs: number;
  /** The catch-up that is under way. */
  catchUp: CatchUp | undefined;
};

/** `lastLogged`: the sample at which the last line was written, or at which it all began. */
export type CatchUp = { start: ProgressSample; lastLogged: ProgressSample; isLogged: boolean };

type MemoryWorld = Pick<World, "clock" | "memory">;
/** All chains of a namespace share their inboxes: an address may be valid on each of them. */
type WatchMemory = { chains: WeakMap<Chain, ChainMemory>; inboxes: Map<Namespace, WatchedInboxes> };

const WATCH_MEMORY: MemorySlot<WatchMemory> = { create: () => ({ chains: new WeakMap(), inboxes: new Map() }) };

export function getChainMemory({ clock, memory: process }: MemoryWorld, chain: Chain): ChainMemory {
  const { chains } = process.get(WATCH_MEMORY);
  let memory = chains.get(chain);
  if (!memory) {
    memory = {
      rangeSize: new RangeSize(FILTERED_LOGS_TARGET),
      rereadSize: new RangeSize(PARSED_LOGS_TARGET),
      hintSize: new RangeSize(PARSED_LOGS_TARGET),
      cursor: undefined,
      pushedHeads: [],
      suspectBlocks: new Map(),
      isFinalityDue: false,
      lastBlockAtMs: clock.monotonicMs(),
      comparedAtMs: clock.monotonicMs(),
      hasMultipleReplies: false,
      objections: new Map(),
      isHoldLogged: false,
      isDisputeLogged: false,
      hintsScannedUpTo: undefined,
      hintsScannedAtMs: -Infinity,
      conflictsCheckedAtMs: -Infinity,
      rereadPausedUntilMs: 0,
      catchUp: undefined,
    };
    chains.set(chain, memory);
  }
  return memory;
}

/** The inboxes of a namespace that this process knows. */
export function getWatchedInboxes({ clock, memory }: MemoryWorld, namespace: Namespace): WatchedInboxes {
  const { inboxes } = memory.get(WATCH_MEMORY);
  const known = inboxes.get(namespace) ?? new WatchedInboxes(clock, namespace);
  inboxes.set(namespace, known);
  return known;
}
