import type { Db, Tx } from "../../db/database.ts";
import { isDatabaseAway } from "../../kernel/errors/classifyError.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { MemorySlot, ProcessMemory } from "../../kernel/processMemory.ts";
import { findRewind, nextEpoch, type EpochPlace, type RewindReason, type ServerIdentity } from "./epoch.ts";
import { beginEpoch, passCounter, readServerIdentity } from "./epochStore.ts";

export type EpochWorld = { db: Db; clock: Clock; memory: ProcessMemory };

/** What a process knows of its database. */
type EpochMemory = {
  /** The furthest place that it has read in a committed transaction. */
  read: EpochPlace | undefined;
  /** Whether the server's identity may be read; undefined before the first attempt. */
  isIdentityReadable: boolean | undefined;
};

const EPOCH_MEMORY: MemorySlot<EpochMemory> = {
  create: () => ({ read: undefined, isIdentityReadable: undefined }),
};

export type EpochLook = {
  epoch: number;
  /** Why this look began the epoch; undefined when it did not. */
  rewind: RewindReason | undefined;
};

/**
 * Increases the database's counter and begins an epoch when the counter, or the server, shows that the database lost
 * commits. It is called once a second.
 */
export async function watchEpoch(world: EpochWorld): Promise<EpochLook> {
  return runInEpoch(world, async (_tx, { rewind, place }) => ({ rewind, epoch: place.epoch }));
}

export type EpochStep = {
  rewind: RewindReason | undefined;
  place: EpochPlace;
  server: ServerIdentity;
  areFeedsPending: boolean;
};

/**
 * Runs `run` in a transaction that has passed the counter. Commits that are lost therefore lose the counter's increase
 * too, and the next transaction of a process that has read it begins an epoch before it does anything else.
 */
export async function runInEpoch<T>(world: EpochWorld, run: (tx: Tx, step: EpochStep) => Promise<T>): Promise<T> {
  const memory = world.memory.get(EPOCH_MEMORY);
  const isIdentityReadable = (memory.isIdentityReadable ??= await probeIdentity(world));
  const { place, result } = await world.db.transaction(async (tx) => {
    const step = await passEpoch(tx, { read: memory.read, isIdentityReadable, at: world.clock.now() });
    return { place: step.place, result: await run(tx, step) };
  });
  // Only what is committed counts as read: the number of a failed transaction comes again.
  if (memory.read === undefined || isAfter(place, memory.read)) memory.read = place;
  return result;
}

function isAfter(one: EpochPlace, other: EpochPlace): boolean {
  return one.epoch > other.epoch || (one.epoch === other.epoch && one.counter > other.counter);
}

type Passing = { read: EpochPlace | undefined; isIdentityReadable: boolean; at: Date };

async function passEpoch(tx: Tx, { read, isIdentityReadable, at }: Passing): Promise<EpochStep> {
  const found = await passCounter(tx, { isIdentityReadable });
  const server = found.present;
  const rewind = findRewind(found, read);
  if (rewind === undefined) return { rewind, place: found, server, areFeedsPending: found.areFeedsPending };
  const place = nextEpoch(found, read);
  await beginEpoch(tx, { ...place, reason: rewind, at, server });
  return { rewind, place, server, areFeedsPending: true };
}

/** Begins an epoch because the operator says that the database lost commits. Returns its number. */
export async function markRewind(world: EpochWorld): Promise<number> {
  return runInEpoch(world, async (tx, { place, rewind, server }) => {
    if (rewind !== undefined) return place.epoch;
    const next = nextEpoch(place, undefined);
    await beginEpoch(tx, { ...next, reason: "marked", at: world.clock.now(), server });
    return next.epoch;
  });
}

/** Whether this process may read which server it is on. Undefined before it has looked. */
export function isServerIdentityReadable({ memory }: Pick<EpochWorld, "memory">): boolean | undefined {
  return memory.get(EPOCH_MEMORY).isIdentityReadable;
}

async function probeIdentity({ db }: EpochWorld): Promise<boolean> {
  if (db.kind === "pglite") return false;
  try {
    await readServerIdentity(db);
    return true;
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return false;
  }
}
