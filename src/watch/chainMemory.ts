import type { Chain } from "../chain/chain.ts";
import type { BlockRef } from "../chain/reader.ts";
import type { Namespace } from "../kernel/caip.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import { PARSED_LOGS_TARGET, FILTERED_LOGS_TARGET, RangeSize } from "./catchUp/readRange.ts";
import type { ProgressSample } from "./catchUp/pace.ts";
import type { ComparedBalance } from "./reconcile/comparedBalance.ts";
import type { KnownBlock } from "./store/store.ts";
import { WatchedInboxes } from "./inboxes/watchedInboxes.ts";

/** Filters for one inbox are cheap over long ranges; a provider that refuses them gets shorter ones. */
const SEARCH_BLOCKS_START = 10_000n;

/** A block without transfers of a token although its header indicates some, and the provider that returned it. */
export type SuspectBlock = { block: BlockRef; provider: string; attempts: number; dueAtMs: number };

/** A provider's objection to the cursor. */
export type Objection = {
  /** When it started, and the provider's head then. */
  sinceMs: number;
  sinceNumber: bigint;
  /** The provider's head, and when it last advanced. */
  headNumber: bigint;
  movedAtMs: number;
  /** Whether the provider only stands still, far behind. */
  isStuck: boolean;
};

/** Since when a provider's answers do not fit, and when they last did not, on the monotonic clock. */
export type Unsoundness = { sinceMs: number; lastMs: number; isLogged: boolean };

/** What a process caches between two polls of a chain. It only saves work: without it the same rows are written. */
export type ChainMemory = {
  /** Range sizes for catching up, for rereading, and for scanning hinted inboxes. */
  readonly rangeSize: RangeSize;
  readonly rereadSize: RangeSize;
  readonly hintSize: RangeSize;
  /** Blocks per request of a search for one inbox. */
  searchBlocks: bigint;
  /**
   * The cursor as this process last read or moved it. Another process may have moved it since; the database decides.
   */
  cursor: KnownBlock | undefined;
  /** Pushed heads that are not processed yet. */
  readonly pushedHeads: BlockRef[];
  /** Blocks to recheck, by hash. */
  readonly suspectBlocks: Map<string, SuspectBlock>;
  /** When the last rechecks were queued and the last thorough ones ran, on the monotonic clock. */
  readonly recheckBudget: { partlyEmpty: number[]; thorough: number[] };
  /** Whether pushed blocks were recorded that no poll has booked yet. */
  isBookingDue: boolean;
  /** When the chain's own finality was last read, and final blocks a second time, on the monotonic clock. */
  finalityReadAtMs: number;
  rereadAtMs: number;
  /** When pushed heads were last followed, and woke the poll, on the monotonic clock. */
  readonly pushed: { followedAtMs: number; wokeAtMs: number };
  /** When a provider last reported a new block, on the monotonic clock. */
  lastBlockAtMs: number;
  /** When the providers were last compared with the cursor, on the monotonic clock. */
  comparedAtMs: number;
  /** Whether more than one provider answered that comparison. */
  hasMultipleReplies: boolean;
  /** The objections to the cursor, by provider. */
  objections: ReadonlyMap<string, Objection>;
  /** The providers whose answers do not fit, by name and by what they read. */
  readonly unsoundProviders: Map<string, Unsoundness>;
  /** Whether it is logged that pushed heads are ignored for that reason. */
  isHoldLogged: boolean;
  /** Whether the dispute is logged. */
  isDisputeLogged: boolean;
  /** Expiry of the last scanned hint; a later expiry is new. */
  hintsScannedUpTo: Date | undefined;
  /** Time of that scan, on the monotonic clock. */
  hintsScannedAtMs: number;
  /** When a conflict with final movements was last checked, on the monotonic clock. */
  conflictsCheckedAtMs: number;
  /** End of the pause in rereading after too few answers, on the monotonic clock. */
  rereadPausedUntilMs: number;
  /** Since when a balance differs without an explanation, by inbox, token and provider, on the monotonic clock. */
  readonly unexplainedSinceMs: Map<string, number>;
  /** Differences that this process has found and not searched yet, by inbox and token. */
  readonly newDifferences: Map<string, ComparedBalance>;
  /** Up to which block the transfers of an inbox were read in parts, by inbox and token. */
  readonly partlyRead: Map<string, bigint>;
  /** Whether the current pass over all balances asks the last provider first. */
  isPassReverse: boolean;
  /**
   * When the tokens that inboxes do not take were last compared: of what payers look at, and of a page of all, on the
   * monotonic clock. `isViewedDue`: the current pass over what payers look at compares them.
   */
  readonly otherTokens: { viewedAtMs: number; isViewedDue: boolean; pageAtMs: number };
  /** Whether payers are looking at inboxes whose balances show deposits. */
  isViewed: boolean;
  /** Whether readings leave out what has a row because it cannot be parsed. */
  isSkippingUnreadable: boolean;
  /** Since when an entry that cannot be parsed waits for the answer of a second provider, on the monotonic clock. */
  readonly waitingUnreadable: Map<string, number>;
  /** The current catch-up. */
  catchUp: CatchUp | undefined;
};

/** `lastLogged`: the sample of the last log line, or the start. */
export type CatchUp = { start: ProgressSample; lastLogged: ProgressSample; isLogged: boolean };

type MemoryWorld = Pick<World, "clock" | "memory">;
/** All chains of a namespace share their inboxes, because an address may be valid on each of them. */
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
      searchBlocks: SEARCH_BLOCKS_START,
      cursor: undefined,
      pushedHeads: [],
      suspectBlocks: new Map(),
      recheckBudget: { partlyEmpty: [], thorough: [] },
      isBookingDue: false,
      finalityReadAtMs: -Infinity,
      rereadAtMs: -Infinity,
      pushed: { followedAtMs: -Infinity, wokeAtMs: -Infinity },
      lastBlockAtMs: clock.monotonicMs(),
      comparedAtMs: clock.monotonicMs(),
      hasMultipleReplies: false,
      objections: new Map(),
      unsoundProviders: new Map(),
      isHoldLogged: false,
      isDisputeLogged: false,
      hintsScannedUpTo: undefined,
      hintsScannedAtMs: -Infinity,
      conflictsCheckedAtMs: -Infinity,
      rereadPausedUntilMs: 0,
      unexplainedSinceMs: new Map(),
      newDifferences: new Map(),
      partlyRead: new Map(),
      isPassReverse: true,
      otherTokens: { viewedAtMs: -Infinity, isViewedDue: false, pageAtMs: -Infinity },
      isViewed: false,
      isSkippingUnreadable: false,
      waitingUnreadable: new Map(),
      catchUp: undefined,
    };
    chains.set(chain, memory);
  }
  return memory;
}

/** The inboxes of a namespace in this process's memory. */
export function getWatchedInboxes({ clock, memory }: MemoryWorld, namespace: Namespace): WatchedInboxes {
  const { inboxes } = memory.get(WATCH_MEMORY);
  const known = inboxes.get(namespace) ?? new WatchedInboxes(clock, namespace);
  inboxes.set(namespace, known);
  return known;
}
