import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { pino } from "pino";
import type { Hex } from "viem";
import type { Transfer } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { watchChain } from "./watchChain.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import {
  insertInbox,
  movementsOf,
  setUpWatchTests,
  startWatcher,
  type NodeOverride,
} from "../../../test/support/watcher.ts";

// A provider whose answers contradict themselves: the block that it reports is the requested one, but its number is
// wrong.

describe("a provider that contradicts itself", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { checksLedger: true });

  const lowered = (transfers: readonly Transfer[]) =>
    transfers.map((transfer) => ({ ...transfer, blockNumber: transfer.blockNumber - 15n }));
  const withLoweredLogs: NodeOverride = (reader) => ({
    name: "liar",
    transfers: async (scope, ...rest) => lowered(await reader.transfers(scope, ...rest)),
  });

  /** A provider that has lost a block below its head, as a node does whose storage is damaged. */
  const withoutBlock =
    (lost: { number?: bigint | undefined }): NodeOverride =>
    (reader) => ({
      name: "damaged",
      block: async (at) => {
        const block = await reader.block(at);
        return block?.number === lost.number ? undefined : block;
      },
    });

  test("a provider that has lost a block is logged after a minute, and recording goes on when it has it again", async () => {
    const lost: { number?: bigint | undefined } = {};
    const { world, chain: watched, watch } = await startWatcher(db, chain, withoutBlock(lost));
    let aheadMs = 0;
    const lines: string[] = [];
    const log = pino(
      {},
      {
        write: (line: string) => {
          const { level, alarm, provider } = JSON.parse(line) as Record<string, unknown>;
          lines.push([level, alarm, provider].map(String).join(" "));
        },
      },
    );
    const clock = { ...world.clock, monotonicMs: () => world.clock.monotonicMs() + aheadMs };
    const followLater = async () => {
      aheadMs += 20_000;
      return watchChain({ ...world, log, clock }, watched);
    };
    const { advancedTo } = await watch();
    await chain.mine(1);
    const { blockNumber } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    lost.number = advancedTo + 1n;
    for (let round = 0; round < 8; round += 1) equal((await followLater()).advancedTo, advancedTo);
    deepEqual(lines, ["50 provider_inconsistent damaged"], "once, not at each poll");
    const both = await startWatcher(db, chain, withoutBlock(lost), () => ({ name: "sound" }));
    equal((await both.watch()).advancedTo, blockNumber, "another provider answers");
    deepEqual(await numbers(), [blockNumber]);
    lost.number = undefined;
    const { blockNumber: next } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 6n });
    for (let round = 0; round < 4; round += 1) equal((await followLater()).advancedTo, next);
    deepEqual(lines.slice(1), ["30 undefined damaged"]);
  });

  const numbers = async () => (await movementsOf(db, chain)).map((row) => row.block_number);

  for (const way of ["near the head", "by ranges"] as const)
    test(`a wrong block number ${way} is never recorded, and another provider is asked`, async () => {
      const alone = await startWatcher(db, chain, withLoweredLogs);
      const { blockNumber } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
      if (way === "by ranges") await chain.mine(60);
      await alone.watch().catch(() => undefined);
      deepEqual(await numbers(), []);
      const both = await startWatcher(db, chain, withLoweredLogs, () => ({ name: "honest" }));
      while ((await both.watch()).isBehind);
      deepEqual(await numbers(), [blockNumber]);
      equal((await both.watch()).advancedTo, await chain.client.getBlockNumber({ cacheTime: 0 }));
    });
});
