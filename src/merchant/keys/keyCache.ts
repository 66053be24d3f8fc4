import { hasElapsed } from "../../kernel/clock.ts";
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

// Caches recently used keys, so that most requests need no query for their key. Each entry is valid for one version of
// keys and accounts, which the database increases with every change. A version is trusted for less than a second from
// the start of its read. So every process refuses a revoked key within a second, even when all signals are lost.

export type KeyCacheWorld = Pick<World, "db" | "clock" | "memory" | "log">;

type CachedKey = { key: ApiKeyRow; account: AccountRow; version: bigint };

type KeyCache = {
  /** By the hash of the whole key, so that a wrong secret misses just like an unknown id. */
  readonly entries: Map<string, CachedKey>;
  version: bigint;
  /** When the read of the current version started; monotonic milliseconds. */
  versionReadAtMs: number;
  isRefreshing: boolean;
  /** Uses not written yet, by key id. */
  readonly pendingUses: Map<string, Date>;
  isFlushing: boolean;
};

/** Revocation must take effect within one second. The remaining 100 ms cover requests already past authentication. */
const VERSION_MAX_AGE_MS = 900;
/** From this age on, the version is read again in the background, so that a busy process never waits for it. */
const VERSION_REFRESH_AGE_MS = 300;
const ENTRIES_MAX = 10_000;
/** The precision of a key's last use. */
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

export type PresentedKey = { hash: Uint8Array; hashHex: string };

/** Finds the key with its account, from memory while the entry is valid; undefined when no key has this hash. */
export async function lookUpKey(world: KeyCacheWorld, presented: PresentedKey): Promise<CachedKey | undefined> {
  const cache = world.memory.get(KEY_CACHE);
  const cached = getCachedKey(world, cache, presented.hashHex);
  if (cached !== undefined) return cached;
  const readAtMs = world.clock.monotonicMs();
  const found = await findKey(world.db, presented.hash);
  if (found === undefined) return undefined;
  updateVersion(cache, { version: found.version, readAtMs });
  addToCache(cache, presented.hashHex, found);
  return found;
}

/**
 * Clears the entries after a change in this process, so that the next request reads anew. Other processes notice by the
 * version.
 */
export function clearKeyCache({ memory }: Pick<World, "memory">): void {
  memory.get(KEY_CACHE).entries.clear();
}

function getCachedKey(world: KeyCacheWorld, cache: KeyCache, name: string): CachedKey | undefined {
  const cached = cache.entries.get(name);
  if (cached === undefined) return undefined;
  const ageMs = world.clock.monotonicMs() - cache.versionReadAtMs;
  if (ageMs >= VERSION_MAX_AGE_MS) return undefined;
  if (ageMs >= VERSION_REFRESH_AGE_MS) void refreshVersion(world, cache);
  return cached.version === cache.version ? cached : undefined;
}

function addToCache(cache: KeyCache, name: string, found: CachedKey): void {
  cache.entries.delete(name);
  const [oldest] = cache.entries.keys();
  if (cache.entries.size >= ENTRIES_MAX && oldest !== undefined) cache.entries.delete(oldest);
  cache.entries.set(name, found);
}

// Responses may arrive out of order. The read that started last is the most recent.
function updateVersion(cache: KeyCache, { version, readAtMs }: { version: bigint; readAtMs: number }): void {
  if (readAtMs < cache.versionReadAtMs) return;
  // A server that lost commits may reach the same version again by another change. It is away for longer than a
  // version is trusted, so a process sees the lower version, or reads none meanwhile.
  const isContinued = version === cache.version && readAtMs - cache.versionReadAtMs < VERSION_MAX_AGE_MS;
  if (!isContinued) cache.entries.clear();
  cache.version = version;
  cache.versionReadAtMs = readAtMs;
}

/**
 * Reads the version. It never rejects: after a failure the version grows too old, and each request reads for itself.
 */
async function refreshVersion({ db, clock, log }: KeyCacheWorld, cache: KeyCache): Promise<void> {
  if (cache.isRefreshing) return;
  cache.isRefreshing = true;
  const readAtMs = clock.monotonicMs();
  try {
    updateVersion(cache, { version: await readMerchantVersion(db), readAtMs });
  } catch (error) {
    log.debug({ err: error }, "reading the version of API keys failed");
  } finally {
    cache.isRefreshing = false;
  }
}

/** Tracks the use of a key, to the minute. It is written in the background and may be lost with the process. */
export function trackKeyUse(world: KeyCacheWorld, key: ApiKeyRow): void {
  const now = world.clock.now();
  if (key.last_used_at !== null && !hasElapsed(USE_PRECISION_MS, { since: key.last_used_at, now })) return;
  key.last_used_at = now;
  const cache = world.memory.get(KEY_CACHE);
  if (cache.pendingUses.size < PENDING_USES_MAX) cache.pendingUses.set(key.key_id, now);
  if (!cache.isFlushing) void flushKeyUses(world, cache);
}

/** Writes one batch at a time; later uses wait for the next. It never rejects. */
async function flushKeyUses({ db, log }: KeyCacheWorld, cache: KeyCache): Promise<void> {
  cache.isFlushing = true;
  try {
    while (cache.pendingUses.size > 0) await updateLastUsed(db, drainKeyUses(cache));
  } catch (error) {
    log.warn({ err: error }, "writing the last use of API keys failed");
  } finally {
    cache.isFlushing = false;
  }
}

function drainKeyUses(cache: KeyCache): KeyUse[] {
  const uses = [...cache.pendingUses].slice(0, FLUSH_BATCH_MAX).map(([keyId, at]) => ({ keyId, at }));
  for (const { keyId } of uses) cache.pendingUses.delete(keyId);
  return uses;
}
