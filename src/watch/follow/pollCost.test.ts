import { deepEqual, equal, ok } from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { Hex } from "viem";
import { findWatchedChain } from "../../catalog/catalog.ts";
import { createEvmChain } from "../../chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../chain/evm/rpcNode.ts";
import { openGasAccount } from "../../chain/evm/send/gasAccount.ts";
import type { Db } from "../../db/database.ts";
import { openNodeProxy, type NodeProxy } from "../../dev/chains/nodeProxy.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { insertInbox, movementsOf, setUpWatchTests, startWatcher } from "../../../test/support/watcher.ts";
import { enqueueHead, followQueuedHeads } from "./followHeads.ts";
import { watchChain } from "./watchChain.ts";

// What a poll costs at the providers of a chain with five blocks a second.

const POLLS = 60;
const POLL_MS = 1_000;
const BLOCKS = 5;

describe("requests of a chain with short blocks", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  let proxies: NodeProxy[] = [];
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened));
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
  });

  /** A watcher behind counting providers, on a clock that only `pass` and its sleeps move. */
  async function startCounted(providers: number) {
    const { world } = await startWatcher(db, chain);
    Object.assign(findWatchedChain(world.catalog, chain.caip2) ?? {}, { estimates: { blockMs: POLL_MS / BLOCKS } });
    let atMs = 1_000_000;
    const slept: number[] = [];
    const sleep = async (ms: number) => {
      slept.push(ms);
      atMs += ms;
    };
    const clock = { ...systemClock, monotonicMs: () => atMs, sleep };
    proxies = await Promise.all(Array.from({ length: providers }, () => openNodeProxy(chain.rpcUrl, {})));
    const nodes = proxies.map(({ url }) => openEvmNode({ caip2: chain.caip2, rpcUrl: url }));
    const [first, ...others] = nodes;
    ok(first);
    const opening = { nodes: [first, ...others] as const, gasAccount: openGasAccount(`0x${"11".repeat(32)}`) };
    const watched = createEvmChain({ ...opening, nodes: [first, ...others] }, { clock, log: world.log });
    const counted = { ...world, clock };
    await watchChain(counted, watched);
    return {
      world: counted,
      chain: watched,
      slept,
      pass: (ms: number) => void (atMs += ms),
      requests: () => proxies.map(({ count }) => count.requests),
    };
  }

  for (const [providers, mostInAll] of [
    [1, 3],
    [2, 6],
  ] as const)
    test(`a poll without anything of ours costs three requests to each of ${providers} providers at most, and fewer in all on average`, async () => {
      const { world, chain: watched, pass, requests } = await startCounted(providers);
      const polls: number[][] = [];
      for (let poll = 0; poll < POLLS; poll += 1) {
        await chain.mine(BLOCKS);
        pass(POLL_MS);
        const before = requests();
        await watchChain(world, watched);
        polls.push(requests().map((count, index) => count - (before[index] ?? 0)));
      }
      ok(Math.max(...polls.flat()) <= 3, JSON.stringify(polls));
      const totals = polls.map((poll) => poll.reduce((sum, count) => sum + count, 0));
      ok(Math.max(...totals) <= mostInAll, JSON.stringify(polls));
      const mean = totals.reduce((sum, count) => sum + count, 0) / POLLS;
      ok(mean <= 3, `${mean} requests: ${JSON.stringify(polls)}`);
      const { number, finalized_number, reread_number } = await db.root
        .selectFrom("chain_cursor")
        .selectAll()
        .executeTakeFirstOrThrow();
      // Finality follows within five seconds, and the second reading fifteen behind what an honest provider may lack.
      ok(number - finalized_number <= BLOCKS * 6, `${finalized_number} of ${number}`);
      ok(number - reread_number <= 100 + BLOCKS * 21, `${reread_number} of ${number}`);
    });

  test("finality is read with every poll while a movement waits for it", async () => {
    const { world, chain: watched, pass } = await startCounted(1);
    await chain.mine(BLOCKS);
    pass(POLL_MS);
    await watchChain(world, watched);
    const { blockNumber } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    for (let poll = 0; poll < 2; poll += 1) {
      pass(POLL_MS);
      await watchChain(world, watched);
      await chain.mine(BLOCKS);
    }
    const cursor = await db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
    ok(cursor.finalized_number >= blockNumber, `${cursor.finalized_number} of ${blockNumber}`);
  });

  test("heads that are pushed within a short time cost one request together", async () => {
    const { world, chain: watched, slept, requests } = await startCounted(1);
    const push = async (blocks: number) => {
      for (let block = 0; block < blocks; block += 1) {
        await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
        enqueueHead(world, watched, await openEvmNode({ caip2: chain.caip2, rpcUrl: chain.rpcUrl }).head("latest"));
      }
    };
    const woken: string[] = [];
    world.wake.notify = (topic) => void woken.push(topic);
    await push(2);
    await followQueuedHeads(world, watched);
    deepEqual(slept, []);
    await push(2);
    const [before = 0] = requests();
    await followQueuedHeads(world, watched);
    // The others of this time come along. One request has the blocks and their logs, one the proofs of our transfers.
    deepEqual(slept, [400]);
    equal((requests()[0] ?? 0) - before, 2);
    equal((await movementsOf(db, chain)).length, 4);
    equal(woken.filter((topic) => topic === `watch:${chain.caip2}`).length, 1);
  });
});
