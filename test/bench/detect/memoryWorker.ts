import { randomFillSync } from "node:crypto";
import { openDatabase } from "../../../src/db/database.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { AddressSet } from "../../../src/chain/evm/filter/addressSet.ts";
import { WatchedInboxes } from "../../../src/watch/inboxes/watchedInboxes.ts";
import { serveParent } from "./runInChildProcess.ts";
import { median } from "./statistics.ts";

// What one way of holding addresses takes, in a process that holds nothing else.

export type SetImplementation = "AddressSet" | "Set" | "Map";
export type MemoryJob = { kind: "hold"; holder: SetImplementation; count: number } | { kind: "load"; url: string };
export type SetReport = {
  /** What the process grew by, after a collection; and its peak while it grew, garbage and all. */
  rssBytes: number;
  peakBytes: number;
  /** Heap and typed arrays together. */
  heldBytes: number;
  /** Of a lookup in raw bytes, of addresses that are not in it; nothing where only strings can be looked up. */
  missNs: number | undefined;
};
export type LoadReport = { count: number; ms: number; rssBytes: number; peakBytes: number };

const HEX_LENGTH = 40;
const LOOKUPS = 200_000;
const RUNS = 15;

serveParent((order: MemoryJob) => (order.kind === "hold" ? measureSet(order) : measureLoad(order)));

function measureSet({ holder, count }: { holder: SetImplementation; count: number }): SetReport {
  const next = addresses();
  // Whatever is compiled and allocated once is not the addresses' own.
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
  const textOf = (hex: Buffer) => `0x${hex.toString("latin1")}`;
  if (holder === "Set") {
    const set = new Set<string>();
    return { add: (hex) => set.add(textOf(hex)), size: () => set.size };
  }
  const map = new Map<string, true>();
  return { add: (hex) => map.set(textOf(hex), true), size: () => map.size };
}

/** Addresses in hex, each in the place of the one before. */
function addresses(): () => Buffer {
  const drawn = Buffer.alloc(20_000);
  const hex = Buffer.alloc(HEX_LENGTH);
  let at = drawn.length;
  return () => {
    if (at === drawn.length) {
      randomFillSync(drawn);
      at = 0;
    }
    for (let byte = 0; byte < 20; byte += 1) {
      const value = drawn[at + byte] ?? 0;
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
    if (found > 0) throw new Error("a stranger was taken for an inbox");
    return ((performance.now() - startedAt) / LOOKUPS) * 1_000_000;
  });
  return median(times);
}
