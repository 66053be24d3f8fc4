import type { Db } from "../db/database.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { findKey, markUsed, readMerchantVersion, type AccountRow, type ApiKeyRow, type KeyUse } from "./store.ts";

// The keys that this process has lately seen work, so that a request costs no query for its key. What is held is good for one
// version of keys and accounts, which the database counts. A version counts as current for less than a second from the
// moment before it was read: a key that was revoked then is refused everywhere within that second, whatever signal is lost.

export type RingWorld = Pick<World, "db" | "clock" | "log">;

type HeldKey = { key: ApiKeyRow; account: AccountRow; version: bigint };

type KeyRing = {
  /** By the hash of the whole key, so that a wrong secret finds as little as an unknown id. */
  readonly held: Map<string, HeldKey>;
  version: bigint;
  /** When the version was asked for that is held to be current; monotonic milliseconds. */
  askedMs: number;
  isAsking: boolean;
  /** Uses that are still to be written, by key id. */
  readonly uses: Map<string, Date>;
  isWriting: boolean;
};

/** The promise is one second; the rest is for a request that is already past its key. */
const TRUSTED_MS = 900;
/** From this age on the version is read again beside the request, so that a busy process never waits for it. */
const ASKED_EVERY_MS = 300;
const HELD_MAX = 10_000;
/** How exactly the last use of a key is remembered. */
const USE_PRECISION_MS = 60_000;
const USES_MAX = 10_000;
const USES_A_WRITE_MAX = 500;

const rings = new WeakMap<Db, KeyRing>();

function ringOf(db: Db): KeyRing {
  const ring = rings.get(db) ?? {
    held: new Map(),
    version: 0n,
    askedMs: -Infinity,
    isAsking: false,
    uses: new Map(),
    isWriting: false,
  };
  rings.set(db, ring);
  return ring;
}

export type PresentedKey = { hash: Uint8Array };

/** The key with its account, from memory where that is as good as the database; undefined when there is no such key with this hash. */
export async function lookUpKey(world: RingWorld, presented: PresentedKey): Promise<HeldKey | undefined> {
  const ring = ringOf(world.db);
  const name = Buffer.from(presented.hash).toString("hex");
  const held = heldKey(world, ring, name);
  if (held !== undefined) return held;
  const askedMs = world.clock.monotonicMs();
  const found = await findKey(world.db, presented.hash);
  if (found === undefined) return undefined;
  learnVersion(ring, { version: found.version, askedMs });
  hold(ring, name, found);
  return found;
}

/** What was changed here is looked up anew by the next request here; other processes notice by the version. */
export function forgetKeys(db: Db): void {
  rings.get(db)?.held.clear();
}

function heldKey(world: RingWorld, ring: KeyRing, name: string): HeldKey | undefined {
  const held = ring.held.get(name);
  if (held === undefined) return undefined;
  const ageMs = world.clock.monotonicMs() - ring.askedMs;
  if (ageMs >= TRUSTED_MS) return undefined;
  if (ageMs >= ASKED_EVERY_MS) void askVersion(world, ring);
  return held.version === ring.version ? held : undefined;
}

function hold(ring: KeyRing, name: string, found: HeldKey): void {
  ring.held.delete(name);
  const [oldest] = ring.held.keys();
  if (ring.held.size >= HELD_MAX && oldest !== undefined) ring.held.delete(oldest);
  ring.held.set(name, found);
}

// Answers may come back in another order than they were asked for; the question that was asked last knows most.
function learnVersion(ring: KeyRing, { version, askedMs }: { version: bigint; askedMs: number }): void {
  if (askedMs < ring.askedMs) return;
  ring.version = version;
  ring.askedMs = askedMs;
}

/** Never rejects: without an answer the version grows too old, and each request asks for itself. */
async function askVersion({ db, clock, log }: RingWorld, ring: KeyRing): Promise<void> {
  if (ring.isAsking) return;
  ring.isAsking = true;
  const askedMs = clock.monotonicMs();
  try {
    learnVersion(ring, { version: await readMerchantVersion(db), askedMs });
  } catch (error) {
    log.debug({ err: error }, "the version of the keys was not read");
  } finally {
    ring.isAsking = false;
  }
}

/** Remembers that a key is in use. It is written beside the request, to the minute, and may be lost with the process. */
export function noteUse(world: RingWorld, key: ApiKeyRow): void {
  const now = world.clock.now();
  if (key.last_used_at !== null && key.last_used_at > addMs(now, -USE_PRECISION_MS)) return;
  key.last_used_at = now;
  const ring = ringOf(world.db);
  if (ring.uses.size < USES_MAX) ring.uses.set(key.key_id, now);
  if (!ring.isWriting) void writeUses(world, ring);
}

/** One write at a time; what is noted meanwhile goes with the next one. Never rejects. */
async function writeUses({ db, log }: RingWorld, ring: KeyRing): Promise<void> {
  ring.isWriting = true;
  try {
    while (ring.uses.size > 0) await markUsed(db, takeUses(ring));
  } catch (error) {
    log.warn({ err: error }, "the last use of some keys was not written");
  } finally {
    ring.isWriting = false;
  }
}

function takeUses(ring: KeyRing): KeyUse[] {
  const uses = [...ring.uses].slice(0, USES_A_WRITE_MAX).map(([keyId, at]) => ({ keyId, at }));
  for (const { keyId } of uses) ring.uses.delete(keyId);
  return uses;
}
