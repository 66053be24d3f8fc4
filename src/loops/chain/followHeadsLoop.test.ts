import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Chain } from "../../chain/chain.ts";
import type { HeadFeed } from "../../chain/headFeed.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";
import { createWake } from "../../kernel/wake.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { World } from "../../world.ts";
import { listenToFeedLoop } from "./followHeadsLoop.ts";

test("a connection without a new head counts as failed, however long it lasted", async () => {
  const headsPerConnection = [[5n, 6n], [5n, 6n], [6n, 7n], []];
  let passedMs = 0;
  const feed: HeadFeed = {
    name: "feed",
    follow: async ({ onHead }) => {
      passedMs += 60_000;
      for (const number of headsPerConnection.shift() ?? [])
        onHead({ number, hash: `h${number}`, parentHash: `h${number - 1n}`, timestampS: 0 });
      return "it timed out";
    },
  };
  const clock = { ...systemClock, monotonicMs: () => passedMs };
  // The loop uses no other part of its world.
  const parts = { clock, wake: createWake(clock), memory: new ProcessMemory(), log: { warn: () => {} } };
  const world = parts as unknown as World;
  const { tick } = listenToFeedLoop(world, { caip2: "eip155:1", readers: [] } as unknown as Chain, feed);
  equal(await tick(), false);
  await rejects(tick(), /brought no new head: it timed out/);
  equal(await tick(), false);
  await rejects(tick(), /brought no new head/);
});
