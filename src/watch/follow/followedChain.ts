import { perChain } from "../perChain.ts";
import type { KnownBlock } from "../store/store.ts";

/** What polls and pushed heads know of each other. */
export const followedChain = perChain((clock) => ({
  /**
   * The cursor as this process last read or moved it. Another process may have moved it since; the database decides.
   */
  cursor: undefined as KnownBlock | undefined,
  /** Whether pushed blocks were recorded that no poll has booked yet. */
  isBookingDue: false,
  /** When a provider last reported a new block, on the monotonic clock. */
  lastBlockAtMs: clock.monotonicMs(),
}));
