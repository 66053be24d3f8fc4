// A database that lost commits gives numbers again that readers have seen. An epoch is the time between two such
// losses.

/** Why an epoch began: what showed, or who said, that the database lost commits. */
export type RewindReason = "counter" | "server" | "timeline" | "marked";

/** The server that a database is on. A promotion changes the timeline, a restored dump the system. */
export type ServerIdentity = { systemIdentifier: string | null; timelineId: number | null };

/** How far a process or a database has come. */
export type EpochPlace = { epoch: number; counter: bigint };

export type FoundEpoch = EpochPlace & { recorded: ServerIdentity; present: ServerIdentity };

/**
 * Why the database that was found is not the one that was read before, or that recorded its server; undefined when it
 * is. `read` is the furthest place that this process has read; undefined before its first read.
 */
export function findRewind(found: FoundEpoch, read: EpochPlace | undefined): RewindReason | undefined {
  if (read !== undefined && isBehind(found, read)) return "counter";
  const { recorded, present } = found;
  if (differs(recorded.systemIdentifier, present.systemIdentifier)) return "server";
  return differs(recorded.timelineId, present.timelineId) ? "timeline" : undefined;
}

/** In one epoch the counter rises with every read. Another process may have begun a higher epoch. */
function isBehind(found: EpochPlace, read: EpochPlace): boolean {
  return found.epoch < read.epoch || (found.epoch === read.epoch && found.counter <= read.counter);
}

/** What may not be read shows nothing. */
function differs<T>(recorded: T | null, present: T | null): boolean {
  return recorded !== null && present !== null && recorded !== present;
}

/** The first place of the epoch after `found`: above all that any process has read. */
export function nextEpoch(found: EpochPlace, read: EpochPlace | undefined): EpochPlace {
  const isReadHigher = read !== undefined && read.counter > found.counter;
  return {
    epoch: Math.max(found.epoch, read?.epoch ?? 0) + 1,
    counter: (isReadHigher ? read.counter : found.counter) + 1n,
  };
}
