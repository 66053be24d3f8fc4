import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { systemClock } from "../../kernel/clock.ts";
import { computePace, computePercent } from "./pace.ts";
import { findCatchUpStart, logCaughtUp, logCatchUp } from "./logCatchUp.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";

const mark = (atMs: number, recorded: bigint, head: bigint) => ({ atMs, recorded, head });

test("the time left counts what the head gains meanwhile", () => {
  deepEqual(computePace(mark(0, 0n, 1_000n), mark(1_000, 100n, 1_000n)), { blocksPerS: 100, remainingMs: 9_000 });
  deepEqual(computePace(mark(0, 0n, 950n), mark(1_000, 100n, 1_000n)), { blocksPerS: 100, remainingMs: 18_000 });
  equal(computePace(mark(0, 0n, 900n), mark(1_000, 100n, 1_000n))?.remainingMs, undefined, "the head is as fast");
  deepEqual(computePace(mark(0, 1_000n, 1_000n), mark(1_000, 1_001n, 1_001n)), { blocksPerS: 1, remainingMs: 0 });
  equal(computePace(mark(0, 5n, 9n), mark(1_000, 3n, 9n))?.blocksPerS, 0, "what was taken back is no pace");
  equal(computePace(mark(5, 0n, 1n), mark(5, 1n, 1n)), undefined);
});

test("100 percent means the head itself", () => {
  equal(computePercent(100n, { recorded: 100n, head: 200n }), 0);
  equal(computePercent(100n, { recorded: 137n, head: 200n }), 37);
  equal(computePercent(0n, { recorded: 99_999n, head: 100_000n }), 99);
  equal(computePercent(0n, { recorded: 100_000n, head: 100_000n }), 100);
  equal(computePercent(100n, { recorded: 90n, head: 200n }), 0, "taken back behind the beginning");
});

test("a long catch-up is logged every five seconds and at its end, a short one never", () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => lines.push(JSON.parse(line) as never) },
  );
  const time = { ms: 0 };
  const world = { log, clock: { ...systemClock, monotonicMs: () => time.ms }, memory: new ProcessMemory() };
  const chain = { caip2: "eip155:1" } as unknown as Chain;
  const [recorded, head] = [1_000n, 11_000n];
  for (; time.ms <= 10_000; time.ms += 1_000)
    logCatchUp(world, chain, { recorded: recorded + BigInt(time.ms) / 2n, head });
  equal(findCatchUpStart(world, chain), recorded);
  logCaughtUp(world, chain, head);
  equal(findCatchUpStart(world, chain), undefined);
  const facts = { level: 30, chain: "eip155:1", from: "1000" };
  const going = { ...facts, to: "11000", blocksPerS: 500, msg: "catching up" };
  deepEqual(lines, [
    { ...going, block: "3500", percent: 25, leftS: 15 },
    { ...going, block: "6000", percent: 50, leftS: 10 },
    { ...facts, block: "11000", tookS: 11, msg: "caught up with the chain" },
  ]);
  lines.length = 0;
  logCatchUp(world, chain, { recorded, head });
  logCaughtUp(world, chain, head);
  logCaughtUp(world, chain, head);
  deepEqual(lines, []);
});
