import { randomFillSync } from "node:crypto";
import { openDatabase } from "../../../src/db/database.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { AddressSet } from "../../../src/chain/evm/filter/addressSet.ts";
import { AddressFingerprints } from "../../../src/chain/solana/addressFingerprints.ts";
import { WatchedInboxes } from "../../../src/watch/inboxes/watchedInboxes.ts";
import { serveParent } from "./runInChildProcess.ts";
import { median } from "./statistics.ts";

// Measures one kind of address set in an otherwise empty process.

export type SetImplementation = "AddressSet" | "AddressFingerprints" | "Set" | "Map";
export type MemoryJob = { kind: "hold"; holder: SetImplementation; count: number } | { kind: "load"; url: string };
export type SetReport = {
  /** Memory growth after garbage collection, and its peak with garbage. */
  rssBytes: number;
  peakBytes: number;
  /** Growth of heap and typed arrays. */
  heldBytes: number;
  /** Nanoseconds of a failed lookup in raw bytes; undefined for sets of strings. */
  missNs: number | undefined;
};
export type LoadReport = { count: number; ms: number; rssBytes: number; peakBytes: number };

const HEX_LENGTH = 40;
const LOOKUPS = 200_000;
const RUNS = 15;

serveParent((job: MemoryJob) => (job.kind === "hold" ? measureSet(job) : measureLoad(job)));

function measureSet({ holder, count }: { holder: SetImplementation; count: number }): SetReport {
  const next = addresses();
  // Excludes one-time compilation and allocation.
  const warm = createHolder(holder);
  for (let added = 0; added < 5_000; added += 1) warm.add(next());
  const before = collectAndMeasure();
  const held = createHolder(holder);
  for (let added = 0; added < count; added += 1) held.add(next());
  const after = collectAndMeasure();
  if (held.size() !== count) throw new Error(`${held.size()} addresses are held, not ${count}`);
  return {
    rssBytes: after.rss - before.rss,
    peakBytes: process.resourceUsage().maxRSS * 1_024 - before.rss,
    heldBytes: after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers,
    missNs: held.hasAt && measureMissNs(held.hasAt, next),
  };
}

async function measureLoad({ url }: { url: string }): Promise<LoadReport> {
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  const watched = new WatchedInboxes(systemClock, "eip155");
  const before = collectAndMeasure();
  const startedAt = performance.now();
  await watched.refresh(db);
  const ms = performance.now() - startedAt;
  const peakBytes = process.resourceUsage().maxRSS * 1_024 - before.rss;
  const rssBytes = collectAndMeasure().rss - before.rss;
  await db.close();
  return { count: watched.size, ms, rssBytes, peakBytes };
}

type AddressHolder = {
  add(hex: Buffer): void;
  size(): number;
  hasAt?: (bytes: Uint8Array, offset: number) => boolean;
};

function createHolder(holder: SetImplementation): AddressHolder {
  if (holder === "AddressSet") {
    const set = new AddressSet();
    const hasAt = (bytes: Uint8Array, offset: number) => set.hasAt(bytes, offset);
    return { add: (hex) => set.addHexAt(hex, 0), size: () => set.size, hasAt };
  }
  if (holder === "AddressFingerprints") {
    const set = new AddressFingerprints();
    return { add: (hex) => set.addAll(hex), size: () => set.size };
  }
  const textOf = (hex: Buffer) => `0x${hex.toString("latin1")}`;
  if (holder === "Set") {
    const set = new Set<string>();
    return { add: (hex) => set.add(textOf(hex)), size: () => set.size };
  }
  const map = new Map<string, true>();
  return { add: (hex) => map.set(textOf(hex), true), size: () => map.size };
}

/** Generates addresses in hex; all share one buffer. */
function addresses(): () => Buffer {
  const randomBuffer = Buffer.alloc(20_000);
  const hex = Buffer.alloc(HEX_LENGTH);
  let at = randomBuffer.length;
  return () => {
    if (at === randomBuffer.length) {
      randomFillSync(randomBuffer);
      at = 0;
    }
    for (let byte = 0; byte < 20; byte += 1) {
      const value = randomBuffer[at + byte] ?? 0;
      hex[2 * byte] = digit(value >>> 4);
      hex[2 * byte + 1] = digit(value & 0xf);
    }
    at += 20;
    return hex;
  };
}

function digit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value;
}

function collectAndMeasure(): NodeJS.MemoryUsage {
  for (let count = 0; count < 3; count += 1) globalThis.gc?.();
  return process.memoryUsage();
}

function measureMissNs(hasAt: NonNullable<AddressHolder["hasAt"]>, next: () => Buffer): number {
  const bytes = Buffer.concat(Array.from({ length: LOOKUPS }, () => Buffer.from(next())));
  const times = Array.from({ length: RUNS }, () => {
    const startedAt = performance.now();
    let found = 0;
    for (let at = 0; at < bytes.length; at += HEX_LENGTH) if (hasAt(bytes, at)) found += 1;
    if (found > 0) throw new Error("an unwatched address was found in the set");
    return ((performance.now() - startedAt) / LOOKUPS) * 1_000_000;
  });
  return median(times);
}
