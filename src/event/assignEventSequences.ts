import { runInEpoch, type EpochWorld } from "./epoch/watchEpoch.ts";
import { restoreFeeds, type RestoreWorld } from "./epoch/restoreFeeds.ts";
import { assignSequences, hasNewEvents, type SequencedEvent } from "./store.ts";

/** The most events numbered in one transaction. */
const BATCH_MAX = 1_000;

export type SequencerWorld = EpochWorld & RestoreWorld;

/**
 * Assigns committed events the next sequences of their accounts. It runs after commit and, under the row lock of the
 * epoch, in one process at a time, so that a reader who has seen a sequence has seen all lower ones. A sequence
 * assigned at insertion could become visible after its successor. Without new events it is one short read. Where the
 * database lost commits, each account's sequences first skip those that were lost.
 */
export async function assignEventSequences(
  world: SequencerWorld,
): Promise<{ isDone: boolean; events: SequencedEvent[] }> {
  if (!(await hasNewEvents(world.db))) return { isDone: true, events: [] };
  return runInEpoch(world, async (tx, { areFeedsPending }) => {
    if (areFeedsPending) {
      await restoreFeeds(tx, world);
      return { isDone: false, events: [] };
    }
    const events = await assignSequences(tx, BATCH_MAX);
    return { isDone: events.length < BATCH_MAX, events };
  });
}
