import type { Chain } from "../../chain/chain.ts";
import type { BlockRef } from "../../chain/reader.ts";
import type { Tx } from "../../db/database.ts";
import { lowestOf } from "../../kernel/extremes.ts";
import type { LocatedTransfer, MovementRow } from "../movement.ts";
import { resolveFinalConflicts } from "../providers/resolveFinalConflicts.ts";
import { bookMovements, bookRevision } from "../store/bookMovements.ts";
import { listHashesAt, listReplacedBlocks } from "../store/chainReads.ts";
import {
  advanceCursor,
  advanceCursorWithNew,
  advanceReread,
  claimRevision,
  orphanMovementAt,
  orphanMovements,
  pruneBlocks,
  rewindCursor,
  writeMovements,
  type CursorRow,
  type CursorState,
  type KnownBlock,
} from "../store/store.ts";
import { wakeBlockConsumers, wakeMovementConsumers } from "../wakes.ts";
import type { WatchWorld } from "../watchWorld.ts";

// Everything that a reading of a chain finds is recorded here: under a revision that the cursor's lock orders, with the
// postings of what changed, and with the stations woken that wait for it.

/** A segment of the chain that was read completely. */
export type ChainSegment = {
  /** The cursor position at the time of the read. */
  from: KnownBlock;
  /** The last block that the chain shares with our tables; `from` itself without a reorg. */
  ancestorNumber: bigint;
  to: KnownBlock;
  /** The blocks of the segment whose headers are known. */
  blocks: readonly BlockRef[];
  located: readonly LocatedTransfer[];
};

/** What a second reading of final blocks requires. */
export type RereadChanges = {
  located: readonly LocatedTransfer[];
  removed: readonly MovementRow[];
  /** As many providers confirm a change as deny it, so the range must be reread. */
  isDisputed: boolean;
};

export type Finding =
  /** Orphans the blocks that the segment replaces, moves the cursor, and books what is deep enough. */
  | ({ kind: "segment" } & ChainSegment)
  /** Blocks that a provider pushed, without a reorg. The next poll books them. */
  | ({ kind: "pushed" } & ChainSegment)
  /** Transfers in blocks that were read before. `immutableUpTo`: see MovementWrite. */
  | { kind: "found"; located: readonly LocatedTransfer[]; immutableUpTo?: bigint | undefined }
  /** Final blocks up to `toBlock`. Blocks below `pruneBelow` are forgotten, apart from those with movements. */
  | ({ kind: "reread"; from: CursorRow; toBlock: bigint; pruneBelow: bigint | undefined } & RereadChanges)
  /** A movement that enough providers deny. A later block can restore it. */
  | { kind: "denied"; movement: MovementRow };

export type Recorded = {
  /** The changed movements, where the finding holds no new blocks. */
  rows: readonly MovementRow[];
  /** The located transfers in blocks that our tables do not know as replaced. */
  standing: readonly LocatedTransfer[];
};

/** What a transaction wrote under a claimed revision. */
type Written = Recorded & {
  cursor: CursorState;
  /** New or changed movements among `standing`; lower than their number where a final movement stays unchanged. */
  writtenCount: number;
  hasChanged: boolean;
  /** Whether a posting may have to be corrected. */
  isRevision: boolean;
};

type Writing<Kind extends Finding["kind"]> = { chain: Chain; finding: Extract<Finding, { kind: Kind }>; at: Date };

/**
 * Records a finding in one transaction. Undefined, with nothing changed, when another process was faster, or the
 * movement is elsewhere.
 */
export async function recordMovements(
  world: WatchWorld,
  chain: Chain,
  finding: Finding,
): Promise<Recorded | undefined> {
  const at = world.clock.now();
  // New transfers only, the common case of a pushed block, are a single statement.
  const added = finding.kind === "pushed" ? await addPushed(world, { chain, finding, at }) : undefined;
  const recorded = added ?? (await world.db.transaction((tx) => writeAndBook(tx, world, { chain, finding, at })));
  if (recorded === undefined) return undefined;
  const { standing, writtenCount, hasChanged, reversedCount } = recorded;
  // Booked transactions should never change: either the chain's first finality tier is too low, or its providers
  // reported a false chain.
  if (reversedCount > 0)
    world.log.error(
      { chain: chain.caip2, reversed: reversedCount },
      "booked transactions changed; their postings were reversed",
    );
  if (hasChanged) wakeMovementConsumers(world, chain);
  else if (finding.kind === "segment" || finding.kind === "pushed") wakeBlockConsumers(world, chain);
  if (writtenCount < standing.length) await resolveFinalConflicts(world, chain, standing);
  return recorded;
}

async function addPushed(
  { db }: WatchWorld,
  { chain, finding, at }: Writing<"pushed">,
): Promise<(Written & { reversedCount: number }) | undefined> {
  const cursor = await advanceCursorWithNew(db.root, { chain: chain.caip2, ...finding, at });
  return cursor && { ...toWritten(cursor, finding), reversedCount: 0 };
}

async function writeAndBook(
  tx: Tx,
  world: WatchWorld,
  { chain, finding, at }: Writing<Finding["kind"]>,
): Promise<(Written & { reversedCount: number }) | undefined> {
  const written = await write(tx, { chain, finding, at });
  if (written === undefined) return undefined;
  const booking = { chain: chain.caip2, cursor: written.cursor, at };
  const reversedCount = written.isRevision ? await bookRevision(tx, booking) : 0;
  if (finding.kind === "segment") await bookMovements(tx, world, booking);
  return { ...written, reversedCount };
}

async function write(tx: Tx, { chain, finding, at }: Writing<Finding["kind"]>): Promise<Written | undefined> {
  switch (finding.kind) {
    case "segment":
    case "pushed":
      return writeSegment(tx, { chain, finding, at });
    case "found":
      return writeFound(tx, { chain, finding, at });
    case "reread":
      return writeReread(tx, { chain, finding, at });
    case "denied":
      return orphanDenied(tx, { chain, finding, at });
  }
}

async function writeSegment(
  tx: Tx,
  { chain, finding, at }: Writing<"segment" | "pushed">,
): Promise<Written | undefined> {
  const advance = { chain: chain.caip2, ...finding, at };
  const isReorg = finding.ancestorNumber < finding.from.number;
  if (isReorg && (await rewindCursor(tx, advance)) === undefined) return undefined;
  const cursor = await advanceCursor(tx, advance);
  // What the rewind orphaned has the revision of the advance.
  return cursor && toWritten(cursor, finding, isReorg);
}

type AdvancedCursor = NonNullable<Awaited<ReturnType<typeof advanceCursor>>>;

function toWritten(cursor: AdvancedCursor, { located }: ChainSegment, isReorg = false): Written {
  const { writtenCount, hasChangedMovement } = cursor;
  const hasChanged = isReorg || writtenCount > 0;
  return { cursor, rows: [], standing: located, writtenCount, hasChanged, isRevision: isReorg || hasChangedMovement };
}

/** Writes transfers, except those in replaced blocks. */
async function writeFound(tx: Tx, { chain: { caip2 }, finding, at }: Writing<"found">): Promise<Written | undefined> {
  const { located, immutableUpTo } = finding;
  const cursor = await claimRevision(tx, caip2);
  if (cursor === undefined) return undefined;
  const replaced = await listReplacedBlocks(tx, caip2, located);
  const standing = located.filter(
    ({ blockNumber, blockHash }) => blockNumber <= cursor.number && !replaced.has(blockHash),
  );
  const { revision } = cursor;
  const rows = await writeMovements(tx, { chain: caip2, located: standing, revision, at, immutableUpTo });
  const hasChanged = rows.length > 0;
  return { cursor, rows, standing, writtenCount: rows.length, hasChanged, isRevision: hasChanged };
}

/** Disputed blocks, and blocks on a branch that is not followed yet, are reread later; the mark does not pass them. */
async function writeReread(tx: Tx, { chain: { caip2 }, finding, at }: Writing<"reread">): Promise<Written | undefined> {
  const { located, removed, from, pruneBelow } = finding;
  const standing = await filterCanonical(tx, { chain: caip2, located });
  const isPassed = !finding.isDisputed && standing.length === located.length;
  const to = isPassed ? finding.toBlock : from.reread_number;
  const cursor = await advanceReread(tx, { chain: caip2, from, to });
  if (cursor === undefined) return undefined;
  const { revision } = cursor;
  await orphanMovements(tx, { ids: removed.map((row) => row.id), revision, at });
  // Movements below these blocks are settled; a single reading must not change them, only add to them.
  const immutableUpTo = from.reread_number;
  const rows = await writeMovements(tx, { chain: caip2, located: standing, revision, at, immutableUpTo });
  if (pruneBelow !== undefined) await pruneBlocks(tx, { chain: caip2, below: lowestOf(to, pruneBelow) });
  const hasChanged = rows.length + removed.length > 0;
  return { cursor, rows, standing, writtenCount: rows.length, hasChanged, isRevision: hasChanged };
}

/** The transfers whose block is ours, as far as we still have the block. */
async function filterCanonical(
  tx: Tx,
  { chain, located }: { chain: Chain["caip2"]; located: readonly LocatedTransfer[] },
): Promise<LocatedTransfer[]> {
  const known = await listHashesAt(tx, { chain, numbers: located.map(({ blockNumber }) => blockNumber) });
  const hashes = new Map(known.map(({ number, hash }) => [number, hash]));
  return located.filter(({ blockNumber, blockHash }) => (hashes.get(blockNumber) ?? blockHash) === blockHash);
}

/** Orphans one movement, as a reorg would. Does nothing when it has moved to another block. */
async function orphanDenied(
  tx: Tx,
  { chain: { caip2 }, finding, at }: Writing<"denied">,
): Promise<Written | undefined> {
  const { id, block_hash: blockHash } = finding.movement;
  const cursor = await claimRevision(tx, caip2);
  if (cursor === undefined) return undefined;
  if (!(await orphanMovementAt(tx, { id, blockHash, revision: cursor.revision, at }))) return undefined;
  return { cursor, rows: [], standing: [], writtenCount: 0, hasChanged: true, isRevision: true };
}
