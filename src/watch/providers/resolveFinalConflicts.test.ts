import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { pino } from "pino";
import type { Hex } from "viem";
import type { Transfer } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import {
  setUpWatchTests,
  startWatcher,
  movementsOf,
  insertInbox,
  type NodeOverride,
} from "../../../test/support/watcher.ts";
import { followHeads } from "../follow/followHeads.ts";
import { rescanChainTx } from "../reread/rescan.ts";
import { watchChain } from "../follow/watchChain.ts";

describe("blocks that contradict final movements", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { strangerUnits: 1_000n, checksLedger: true });

  type FalseTransfer = { transfer: Transfer; block: { number: bigint; hash: string } };

  /**
   * Three providers. The first one reports a transfer again in another block with another amount and a matching
   * receipt: by block hash, or in a range.
   */
  async function setUp({
    falseScope = "of blocks",
    agreement,
  }: { falseScope?: "of blocks" | "of ranges"; agreement?: { providers: number; abovePriceUnits: bigint } } = {}) {
    let lie: FalseTransfer | undefined;
    const overrideDriver =
      (name: string, isLiar: boolean): NodeOverride =>
      (reader) => ({
        name,
        transfers: async (scope, ...rest) => {
          const transfers = await reader.transfers(scope, ...rest);
          if (!isLiar || !lie) return transfers;
          const isBlock = "blockHash" in scope;
          const isThere = isBlock
            ? scope.blockHash === lie.block.hash
            : scope.fromBlock <= lie.block.number && lie.block.number <= scope.toBlock;
          if (!isThere || isBlock !== (falseScope === "of blocks")) return transfers;
          return [
            ...transfers,
            { ...lie.transfer, amountText: "0x999", blockHash: lie.block.hash, blockNumber: lie.block.number },
          ];
        },
        proofs: async (chainTxs) => {
          const positions = await reader.proofs(chainTxs);
          return positions.map((position) =>
            isLiar && lie?.transfer.chainTx === position.chainTx
              ? { ...position, blockHash: lie.block.hash, blockNumber: lie.block.number }
              : position,
          );
        },
      });
    const watching = await startWatcher(
      db,
      chain,
      overrideDriver("liar", true),
      overrideDriver("second", false),
      overrideDriver("third", false),
    );
    const alarms: unknown[] = [];
    const log = pino({}, { write: (line: string) => void alarms.push(JSON.parse(line)) });
    const { catalog } = watching.world;
    const chains = catalog.chains.map((each) => ({ ...each, agreement }));
    const world = { ...watching.world, log, catalog: { ...catalog, chains } };
    const { blockNumber, transactionHash } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    const look = () => watchChain(world, watching.chain);
    await look();
    /** From here the first provider reports the payment in the block that this call mines. */
    const contradict = async () => {
      await chain.mine(1);
      const head = await watching.chain.providers.head("latest");
      const paid = await watching.chain.providers.block({ number: blockNumber });
      const scope = { blockHash: paid?.hash ?? "", blockNumber };
      const [transfer] = await watching.chain.providers.transfers(scope, [usdc]);
      if (transfer) lie = { transfer, block: head };
      return head;
    };
    return { ...watching, world, look, contradict, alarms, transactionHash };
  }

  const amounts = async () => (await movementsOf(db, chain)).map((row) => [row.amount_units, row.orphaned_at]);

  for (const way of ["a look", "a pushed head"] as const)
    test(`${way} changes no reread movement, logs an alarm and starts a cooldown`, async () => {
      const { world, chain: watched, look, contradict, alarms } = await setUp();
      await chain.finalize();
      await look();
      const head = await contradict();
      if (way === "a look") equal((await look()).advancedTo, head.number);
      else equal(await followHeads(world, watched, [head]), "recorded");
      deepEqual(await amounts(), [[5n, null]]);
      const [alarm] = alarms as { alarm?: string; confirming?: string[]; denying?: string[] }[];
      deepEqual(
        [alarm?.alarm, alarm?.confirming, alarm?.denying],
        ["final_contradicted", ["second", "third"], ["liar"]],
      );
      equal(await watched.providers.run(async (reader) => reader.name), "second");
    });

  for (const providers of [1, 2, 3])
    test(`a reread of later blocks changes nothing either, where ${providers} must agree`, async () => {
      const agreement = { providers, abovePriceUnits: 0n };
      const { look, contradict } = await setUp({ falseScope: "of ranges", ...(providers > 1 && { agreement }) });
      await chain.finalize();
      await look();
      await contradict();
      await look();
      await chain.finalize();
      await look();
      await look();
      deepEqual(await amounts(), [[5n, null]]);
    });

  test("before the reread a movement follows the newest block, as in a reorg", async () => {
    const { look, contradict } = await setUp();
    await contradict();
    await look();
    deepEqual(await amounts(), [[0x999n, null]]);
    // The block is not reread yet; the reread at finality corrects the movement.
    await chain.finalize();
    await look();
    deepEqual(await amounts(), [[5n, null]]);
  });

  test("a requested rescan corrects a final movement too", async () => {
    const { world, chain: watched, look, transactionHash } = await setUp();
    await chain.finalize();
    await look();
    await db.transaction((tx) => tx.updateTable("movement").set({ place: 99n }).execute());
    await rescanChainTx({ ...world, chains: new Map([[chain.caip2, watched]]) }, { chainTx: transactionHash });
    const [movement] = await movementsOf(db, chain);
    equal(movement?.place, 0n);
  });
});
