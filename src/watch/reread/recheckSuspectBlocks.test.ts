import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import type { ChainReader } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import {
  setUpWatchTests,
  startWatcher,
  movementsOf,
  insertInbox,
  openTestChain,
} from "../../../test/support/watcher.ts";
import { recheckSuspectBlocks, enqueueRecheck, recheckQueue } from "./recheckSuspectBlocks.ts";
import { followHeads } from "../follow/followHeads.ts";

describe("empty blocks whose headers indicate transfers", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { strangerUnits: 1_000n, checksLedger: true });

  /** A watcher whose provider omits a block's logs from the first answer and `late` more; its pauses pass at once. */
  async function setUp(missingAnswers: { answers: number }, bend: Partial<ChainReader> = {}) {
    const questions: string[] = [];
    const watching = await startWatcher(db, chain, (reader) => ({
      recheckTransfers: async () => [],
      ...bend,
      transfers: async (scope, tokens, parties) => {
        if (!("blockHash" in scope)) return reader.transfers(scope, tokens, parties);
        questions.push(scope.blockHash);
        return (missingAnswers.answers -= 1) >= 0 ? [] : reader.transfers(scope, tokens, parties);
      },
    }));
    const waits: number[] = [];
    let passedMs = 0;
    const clock = { ...watching.world.clock, monotonicMs: () => passedMs };
    const wait = async (_: string, { timeoutMs }: { timeoutMs: number }) => {
      waits.push(timeoutMs);
      passedMs += timeoutMs;
    };
    const world = { ...watching.world, clock, wake: { notify: () => {}, wait } };
    questions.length = 0;
    return { ...watching, world, waits, questions, ask: () => recheckSuspectBlocks(world, watching.chain) };
  }

  const amounts = async () => (await movementsOf(db, chain)).map((row) => row.amount_units);

  for (const way of ["a look", "a pushed head"] as const)
    test(`logs that a node lacked are recorded shortly after ${way}, once`, async () => {
      const { world, chain: watched, watch, ask } = await setUp({ answers: 2 });
      await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
      const head = await watched.providers.head("latest");
      if (way === "a look") await watch();
      else equal(await followHeads(world, watched, [head]), "recorded");
      deepEqual(await amounts(), []);
      equal(await ask(), true, "it is still empty");
      equal(await ask(), false);
      deepEqual(await amounts(), [5n]);
      equal(await ask(), false);
      await watch();
      deepEqual(await amounts(), [5n]);
    });

  test("later blocks do not wait for a suspect one, and rechecks stop after a few empty answers", async () => {
    const { watch, ask, waits, questions } = await setUp({ answers: 1_000 });
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    const { advancedTo } = await watch();
    const { blockNumber } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 6n });
    equal((await watch()).advancedTo, blockNumber);
    equal(advancedTo, blockNumber - 1n);
    let rounds = 0;
    while (await ask()) ok((rounds += 1) < 10);
    equal(questions.length, 2 * 3, "the last recheck reads the receipts");
    ok(waits.length > 0);
  });

  test("a header without a matching or any digest is not suspect", async () => {
    const { chain: watched, world, watch } = await setUp({ answers: 1_000 });
    const { suspectBlocks } = recheckQueue(world, watched);
    await chain.mine(3);
    await watch();
    equal(suspectBlocks.size, 0);
    const none = `0x${"00".repeat(256)}`;
    const silent = await setUp(
      { answers: 1_000 },
      {
        mayContainTransfers: (block, tokens) =>
          watched.readers[0]?.mayContainTransfers?.({ ...block, digest: none }, tokens) ?? true,
      },
    );
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    await silent.watch();
    equal(recheckQueue(world, silent.chain).suspectBlocks.size, 0);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    await watch();
    equal(suspectBlocks.size, 1, "a header as it is does");
  });

  test("the receipts of a block show what a single provider always omits", async () => {
    const real = openTestChain(chain).readers[0];
    const { watch, ask } = await setUp(
      { answers: 1_000 },
      { recheckTransfers: async (block, tokens) => (await real?.recheckTransfers?.(block, tokens)) ?? [] },
    );
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    await watch();
    while (await ask());
    deepEqual(await amounts(), [5n]);
  });

  test("a block that lacks only one of its tokens is rechecked once, and few of them a minute", async () => {
    const [inbox, other] = [await insertInbox(db), chain.dusd.address];
    const { chain: watched, world, watch, ask } = await setUp({ answers: 0 }, { recheckTransfers: async () => [] });
    let omits = true;
    const partly = await startWatcher(db, chain, (reader) => ({
      transfers: async (...request) =>
        (await reader.transfers(...request)).filter(({ token }) => !omits || token === other),
      recheckTransfers: (block, tokens) => reader.recheckTransfers?.(block, tokens) ?? Promise.resolve([]),
    }));
    await chain.payInOneBlock([
      { token: usdc, to: inbox, amountUnits: 5n },
      { token: other, to: inbox, amountUnits: 6n },
    ]);
    await partly.watch();
    deepEqual(await amounts(), [6n]);
    const queue = recheckQueue(partly.world, partly.chain);
    equal(queue.suspectBlocks.size, 1);
    for (const suspect of queue.suspectBlocks.values()) suspect.dueAtMs = 0;
    equal(await recheckSuspectBlocks(partly.world, partly.chain), false);
    deepEqual(new Set(await amounts()), new Set([5n, 6n]));
    omits = false;
    await watch();
    const head = await watched.providers.head("latest");
    enqueueRecheck(
      world,
      watched,
      Array.from({ length: 50 }, (_, index) => ({
        block: { ...head, hash: `0x${index}` },
        provider: "one",
        isEmpty: false,
      })),
    );
    equal(recheckQueue(world, watched).suspectBlocks.size, 30);
    equal(await ask(), true);
  });

  test("the newest suspect blocks are kept", async () => {
    const { chain: watched, world } = await setUp({ answers: 0 });
    const head = await watched.providers.head("latest");
    const blocks = Array.from({ length: 100 }, (_, index) => ({ ...head, hash: `0x${index}` }));
    enqueueRecheck(
      world,
      watched,
      blocks.map((block) => ({ block, provider: "one", isEmpty: true })),
    );
    deepEqual(
      [...recheckQueue(world, watched).suspectBlocks.keys()],
      blocks.slice(-64).map(({ hash }) => hash),
    );
  });
});
