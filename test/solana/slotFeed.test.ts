import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { openSlotFeed, type SlotFeedOptions } from "../../src/chain/solana/rpc/slotFeed.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { startTestSolana } from "../support/solana.ts";
import { openWebSocketProxy } from "../support/webSocketProxy.ts";

/** Follows a feed and returns its slots one by one. */
function listen(
  wsUrl: string,
  options: Partial<SlotFeedOptions> = {},
  highestKnown = (): bigint | undefined => undefined,
) {
  const feed = openSlotFeed({ wsUrl, clock: systemClock, ...options });
  const opened = Promise.withResolvers<void>();
  const slots: bigint[] = [];
  let arrived = Promise.withResolvers<void>();
  const onHeadNumber = (number: bigint) => {
    slots.push(number);
    arrived.resolve();
  };
  const ending = new AbortController();
  const onHead = () => {
    throw new Error("a slot names no block");
  };
  const ended = feed.follow({ onOpen: opened.resolve, onHead, onHeadNumber, highestKnown }, ending.signal);
  const next = async (): Promise<bigint> => {
    for (;;) {
      const slot = slots.shift();
      if (slot !== undefined) return slot;
      arrived = Promise.withResolvers();
      await arrived.promise;
    }
  };
  const stop = () => {
    ending.abort();
    return ended;
  };
  return { opened: opened.promise, ended, next, stop };
}

test("each new slot is announced by its number, and skipped ones are not", async () => {
  const solana = await startTestSolana();
  const { opened, next, stop } = listen(solana.wsUrl);
  await opened;
  const slot = BigInt(solana.control.slot);
  solana.control.nextSlot(2);
  deepEqual([await next(), await next()], [slot + 1n, slot + 2n]);
  solana.control.skip(3);
  equal(await next(), slot + 6n);
  equal(await stop(), "the service stops");
});

test("a connection that falls silent or stays behind others ends", async () => {
  const solana = await startTestSolana();
  const silent = listen(solana.wsUrl, { idleMs: 20 });
  await silent.opened;
  equal(await silent.ended, "it stopped announcing slots");
  const moving = await startTestSolana({ slotMs: 5 });
  const behind = listen(moving.wsUrl, { idleMs: 50 }, () => 1_000_000n);
  equal(await behind.ended, "it misses slots");
});

test("a provider that is unreachable or does not answer fails, and a lost connection is named", async () => {
  const isFailed = (error: unknown) => error instanceof ProviderFailed;
  await rejects(listen("ws://127.0.0.1:1").ended, isFailed);
  const solana = await startTestSolana();
  const gate = await openWebSocketProxy(solana.url);
  gate.dropAllFrames();
  await rejects(listen(gate.url, { timeoutMs: 100 }).ended, isFailed);
  gate.forwardAllFrames();
  const { opened, ended } = listen(gate.url);
  await opened;
  await gate.close();
  ok(/connection/.test(await ended));
});
