import { addMs } from "../../kernel/clock.ts";
import type { MemorySlot } from "../../kernel/processMemory.ts";
import type { World } from "../../world.ts";
import {
  findKey,
  updateLastUsed,
  readMerchantVersion,
  type AccountRow,
  type ApiKeyRow,
  type KeyUse,
} from "../store.ts";

// The keys that this process has lately seen work, so that a request costs no query for its key. What is held is good for one
// version of keys and accounts, which the database counts. A version counts as current for less than a second from the
// moment before it was read: a key that was revoked then is refused everywhere within that second, whatever signal is lost.

export type KeyCacheWorld = Pick<World, "db" | "clock" | "memory" | "log">;

type CachedKey = { key: ApiKeyRow; account: AccountRow; version: bigint };

type KeyCache = {
  /** By the hash of the whole key, so that a wrong secret finds as little as an unknown id. */
  readonly entries: Map<string, CachedKey>;
  version: bigint;
  /** When the version was asked for that is held to be current; monotonic milliseconds. */
  versionReadAtMs: number;
  isRefreshing: boolean;
  /** Uses that are still to be written, by key id. */
  readonly pendingUses: Map<string, Date>;
  isFlushing: boolean;
};

/** The promise is one second; the rest is for a request that is already past its key. */
const VERSION_MAX_AGE_MS = 900;
/** From this age on the version is read again beside the request, so that a busy process never waits for it. */
const VERSION_REFRESH_AGE_MS = 300;
const ENTRIES_MAX = 10_000;
/** How exactly the last use of a key is remembered. */
const USE_PRECISION_MS = 60_000;
const PENDING_USES_MAX = 10_000;
const FLUSH_BATCH_MAX = 500;

const KEY_CACHE: MemorySlot<KeyCache> = {
  create: () => ({
    entries: new Map(),
    version: 0n,
    versionReadAtMs: -Infinity,
    isRefreshing: false,
    pendingUses: new Map(),
    isFlushing: false,
  }),
};

export type PresentedKey = { hash: Uint8Array };

/** The key with its account, from memory where that is as good as the database; undefined when there is no such key with this hash. */
export async function lookUpKey(world: KeyCacheWorld, presented: PresentedKey): Promise<CachedKey | undefined> {
  const ring = world.memory.get(KEY_CACHE);
  const cacheKey = Buffer.from(presented.hash).toString("hex");
  const held = getCachedKey(world, ring, cacheKey);
  if (held !== undefined) return held;
  const askedMs = world.clock.monotonicMs();
  const found = await findKey(world.db, presented.hash);
  if (found === undefined) return undefined;
  updateVersion(ring, { version: found.version, askedMs });
  addToCache(ring, cacheKey, found);
  return found;
}

/** What was changed here is looked up anew by the next request here; other processes notice by the version. */
export function clearKeyCache({ memory }: Pick<World, "memory">): void {
  memory.get(KEY_CACHE).entries.clear();
}

function getCachedKey(world: KeyCacheWorld, ring: KeyCache, name: string): CachedKey | undefined {
  const held = ring.entries.get(name);
  if (held === undefined) return undefined;
  const ageMs = world.clock.monotonicMs() - ring.versionReadAtMs;
  if (ageMs >= VERSION_MAX_AGE_MS) return undefined;
  if (ageMs >= VERSION_REFRESH_AGE_MS) void refreshVersion(world, ring);
  return held.version === ring.version ? held : undefined;
}

function addToCache(ring: KeyCache, name: string, found: CachedKey): void {
  ring.entries.delete(name);
  const [oldest] = ring.entries.keys();
  if (ring.entries.size >= ENTRIES_MAX && oldest !== undefined) ring.entries.delete(oldest);
  ring.entries.set(name, found);
}

// Answers may come back in another order than they were asked for; the question that was asked last knows most.
function updateVersion(ring: KeyCache, { version, askedMs }: { version: bigint; askedMs: number }): void {
  if (askedMs < ring.versionReadAtMs) return;
  ring.version = version;
  ring.versionReadAtMs = askedMs;
}

/** Never rejects: without an answer the version grows too old, and each request asks for itself. */
async function refreshVersion({ db, clock, log }: KeyCacheWorld, ring: KeyCache): Promise<void> {
  if (ring.isRefreshing) return;
  ring.isRefreshing = true;
  const askedMs = clock.monotonicMs();
  try {
    updateVersion(ring, { version: await readMerchantVersion(db), askedMs });
  } catch (error) {
    log.debug({ err: error }, "the version of the keys was not read");
  } finally {
    ring.isRefreshing = false;
  }
}

/** Remembers that a key is in use. It is written beside the request, to the minute, and may be lost with the process. */
export function trackKeyUse(world: KeyCacheWorld, key: ApiKeyRow): void {
  const now = world.clock.now();
  if (key.last_used_at !== null && key.last_used_at > addMs(now, -USE_PRECISION_MS)) return;
  key.last_used_at = now;
  const ring = world.memory.get(KEY_CACHE);
  if (ring.pendingUses.size < PENDING_USES_MAX) ring.pendingUses.set(key.key_id, now);
  if (!ring.isFlushing) void flushKeyUses(world, ring);
}

/** One write at a time; what is noted meanwhile goes with the next one. Never rejects. */
async function flushKeyUses({ db, log }: KeyCacheWorld, ring: KeyCache): Promise<void> {
  ring.isFlushing = true;
  try {
    while (ring.pendingUses.size > 0) await updateLastUsed(db, drainKeyUses(ring));
  } catch (error) {
    log.warn({ err: error }, "the last use of some keys was not written");
  } finally {
    ring.isFlushing = false;
  }
}

function drainKeyUses(ring: KeyCache): KeyUse[] {
  const uses = [...ring.pendingUses].slice(0, FLUSH_BATCH_MAX).map(([keyId, at]) => ({ keyId, at }));
  for (const { keyId } of uses) ring.pendingUses.delete(keyId);
  return uses;
}
