import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import { ProviderFailed, type TransferScope } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import { assertLedgerAndWatchChecks } from "../../../test/support/ledgerAssertions.ts";
import {
  setUpWatchTests,
  startWatcher,
  movementsOf,
  insertInbox,
  type NodeOverride,
} from "../../../test/support/watcher.ts";
import { onlyDeep } from "../../../test/support/runNumber.ts";

const OUTAGE_BLOCKS = 500;
const PAYMENTS = 25;

describe("catching up after an outage", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened));

  /** Payments of 1, 2, 3 … spread over the outage. */
  async function payDuringOutage(inbox: Hex): Promise<bigint[]> {
    const amounts = Array.from({ length: PAYMENTS }, (_, index) => BigInt(index + 1));
    for (const amountUnits of amounts) {
      await chain.mine(OUTAGE_BLOCKS / PAYMENTS - 1);
      await chain.pay(usdc, inbox, { amountUnits });
    }
    return amounts;
  }

  async function readCursorNumber(): Promise<bigint> {
    const { number } = await db.root.selectFrom("chain_cursor").select("number").executeTakeFirstOrThrow();
    return number;
  }

  async function lookUntilThere(look: () => Promise<{ isBehind: boolean }>): Promise<number> {
    for (let looks = 1; looks <= 50; looks += 1) if (!(await look()).isBehind) return looks;
    throw new Error("it never arrived");
  }

  test("every payment is found through a provider with a limit of a hundred blocks", async () => {
    const scopes: TransferScope[] = [];
    const limited: NodeOverride = (reader) => ({
      transfers: async (scope, tokens) => {
        scopes.push(scope);
        const isTooLong = "fromBlock" in scope && scope.toBlock - scope.fromBlock >= 100n;
        if (isTooLong) throw new ProviderFailed("range_too_large", "eth_getLogs is limited to a 100 range");
        return reader.transfers(scope, tokens);
      },
    });
    const { watch } = await startWatcher(db, chain, limited);
    const amounts = await payDuringOutage(await insertInbox(db));
    await lookUntilThere(watch);
    const movements = await movementsOf(db, chain);
    deepEqual(
      movements.map((row) => row.amount_units),
      amounts,
    );
    const cursor = await db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
    equal(cursor.number, await chain.client.getBlockNumber());
    equal(cursor.hash, (await chain.client.getBlock()).hash);
    ok(scopes.length < 60, `500 blocks took ${scopes.length} questions`);
  });

  test("refused ranges shrink until the provider answers", { skip: onlyDeep }, async () => {
    const limited: NodeOverride = (reader) => ({
      transfers: async (scope, tokens) => {
        const transfers = await reader.transfers(scope, tokens);
        if (transfers.length > 1) throw new ProviderFailed("range_too_large", "query returned more than 1 results");
        return transfers;
      },
    });
    const { watch } = await startWatcher(db, chain, limited);
    const amounts = await payDuringOutage(await insertInbox(db));
    await lookUntilThere(watch);
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      amounts,
    );
  });

  test("a failed range is read again later, and later ranges wait for it", { skip: onlyDeep }, async () => {
    let fails = 0;
    const flaky: NodeOverride = (reader) => ({
      transfers: async (scope, tokens) => {
        fails += 1;
        if ("fromBlock" in scope && fails % 3 === 0) throw new ProviderFailed("timeout", "took too long");
        return reader.transfers(scope, tokens);
      },
    });
    const { watch } = await startWatcher(db, chain, flaky);
    const amounts = await payDuringOutage(await insertInbox(db));
    await lookUntilThere(() => watch().catch(() => ({ isBehind: true })));
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      amounts,
    );
  });

  test("blocks replaced during the outage are orphaned", async () => {
    const { watch } = await startWatcher(db, chain);
    const inbox = await insertInbox(db);
    await chain.pay(usdc, inbox, { amountUnits: 7n });
    await watch();
    await chain.reorg(1);
    const amounts = await payDuringOutage(inbox);
    await lookUntilThere(watch);
    const kept = (await movementsOf(db, chain)).filter((row) => row.orphaned_at === null);
    deepEqual(
      kept.map((row) => row.amount_units),
      amounts,
    );
  });

  test(
    "a block that was replaced while the next one is read is not recorded below it",
    { skip: onlyDeep },
    async () => {
      const replaced = { number: -1n, wasRead: false };
      const stale: NodeOverride = (reader) => ({
        transfers: (scope, tokens) => {
          if ("fromBlock" in scope && scope.toBlock > scope.fromBlock)
            throw new ProviderFailed("range_too_large", "one block at a time", {
              suggestion: { blocks: 1n, isLimit: false },
            });
          return reader.transfers(scope, tokens);
        },
        block: async (at) => {
          const block = await reader.block(at);
          if (!block || !("number" in at) || at.number !== replaced.number || replaced.wasRead) return block;
          replaced.wasRead = true;
          return { ...block, hash: `0x${"57a1e".padEnd(64, "0")}` };
        },
      });
      const { watch } = await startWatcher(db, chain, stale);
      const amounts = await payDuringOutage(await insertInbox(db));
      replaced.number = (await chain.client.getBlockNumber()) - BigInt(OUTAGE_BLOCKS) + 5n;
      let looks = 0;
      do {
        looks += 1;
        await watch();
        await assertLedgerAndWatchChecks(db);
      } while ((await readCursorNumber()) < (await chain.client.getBlockNumber()) && looks < 50);
      ok(replaced.wasRead);
      deepEqual(
        (await movementsOf(db, chain)).filter((row) => row.orphaned_at === null).map((row) => row.amount_units),
        amounts,
      );
    },
  );

  test("two processes catch up together and record each movement once", async (context) => {
    const db = await openTestDatabase("postgres");
    context.after(() => db.close());
    const [one, other] = [await startWatcher(db, chain), await startWatcher(db, chain)];
    const amounts = await payDuringOutage(await insertInbox(db));
    await Promise.all([lookUntilThere(one.watch), lookUntilThere(other.watch)]);
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      amounts,
    );
  });

  test("a transfer in two ranges of one transaction is recorded once", { skip: onlyDeep }, async () => {
    const reported: { paid?: { blockNumber: bigint; blockHash: Hex }; again?: bigint } = {};
    const later = Promise.withResolvers<void>();
    /**
     * Reports the payment in its block, and again at the start of the next range, as on another branch; that range
     * answers first.
     */
    const onTwoBranches: NodeOverride = (reader) => ({
      transfers: async (scope, tokens) => {
        const isTooLong = "fromBlock" in scope && scope.toBlock - scope.fromBlock >= 100n;
        if (isTooLong) throw new ProviderFailed("range_too_large", "eth_getLogs is limited to a 100 range");
        const { paid } = reported;
        const isPaid =
          paid && "fromBlock" in scope && scope.fromBlock <= paid.blockNumber && paid.blockNumber <= scope.toBlock;
        // Before the node answers, because the next range may be answered first.
        if (isPaid) reported.again = scope.toBlock + 1n;
        const transfers = await reader.transfers(scope, tokens);
        if (!paid || !("fromBlock" in scope)) return transfers;
        if (isPaid) {
          await later.promise;
          return transfers;
        }
        const block = scope.fromBlock === reported.again ? await reader.block({ number: scope.fromBlock }) : undefined;
        if (!block) return transfers;
        const [again] = await reader.transfers({ blockHash: paid.blockHash, blockNumber: paid.blockNumber }, tokens);
        setImmediate(later.resolve);
        return again ? [{ ...again, blockNumber: block.number, blockHash: block.hash, identity: "0" }] : [];
      },
    });
    const { watch } = await startWatcher(db, chain, onTwoBranches);
    reported.paid = await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    for (let mined = 0; mined < OUTAGE_BLOCKS; mined += 50) await chain.mine(50);
    await lookUntilThere(watch);
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      [5n],
    );
  });
});
