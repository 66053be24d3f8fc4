import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { getContractAddress, type Hex } from "viem";
import type { BlockRef } from "../../src/chain/reader.ts";
import { ChainMismatch } from "../../src/chain/providers.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { transferCall } from "../../src/dev/chains/tokens.ts";
import type { Db } from "../../src/db/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { openTestDatabase } from "../support/database.ts";
import { assertLedgerAndWatchChecks } from "../support/ledgerAssertions.ts";
import { startWatcher, callByBlockParity, movementsOf, insertInbox, openTestChain } from "../support/watcher.ts";

const { stranger } = DEV_ACCOUNTS;

describe("a chain that reorganizes", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;

  before(async () => {
    chain = await startTestChain();
    usdc = chain.usdc.address;
    await chain.mint(usdc, stranger.address, 1_000n);
    await chain.mine(30);
  });
  after(() => chain.stop());
  beforeEach(async () => {
    db = await openTestDatabase("postgres");
  });
  afterEach(() => db.close());

  test("a payment that is never mined again is orphaned under a new revision", async () => {
    const { watch } = await startWatcher(db, chain);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    const [before] = await movementsOf(db, chain);
    await chain.reorg(1);
    await watch();
    const [orphaned] = await movementsOf(db, chain);
    ok(before && orphaned?.orphaned_at && orphaned.revision > before.revision);
    await assertOneChain();
  });

  test("payments mined again in another order keep their rows in their new blocks", async () => {
    const { watch } = await startWatcher(db, chain);
    const inbox = await insertInbox(db);
    const first = await chain.pay(usdc, inbox, { amountUnits: 1n });
    const second = await chain.pay(usdc, inbox, { amountUnits: 2n, from: stranger });
    await watch();
    const before = await movementsOf(db, chain);
    const [firstSigned, secondSigned] = [
      await chain.signedOf(first.transactionHash),
      await chain.signedOf(second.transactionHash),
    ];
    await chain.reorg(2, [
      { signed: secondSigned, blockIndex: 1 },
      { signed: firstSigned, blockIndex: 1 },
    ]);
    await watch();
    const now = await movementsOf(db, chain);
    deepEqual(
      now.map(({ id, chain_tx, identity, amount_units, orphaned_at }) => ({
        id,
        chain_tx,
        identity,
        amount_units,
        orphaned_at,
      })),
      before.map(({ id, chain_tx, identity, amount_units }) => ({
        id,
        chain_tx,
        identity,
        amount_units,
        orphaned_at: null,
      })),
    );
    ok(now.every((row) => row.block_number === second.blockNumber && row.block_hash !== second.blockHash));
    deepEqual(new Set(now.map((row) => row.place)), new Set([0n, 1n]));
    ok(now.every((row, index) => row.revision > (before[index]?.revision ?? 0n)));
    await assertOneChain();
  });

  test("a payment moves between blocks in one transaction", async () => {
    const { watch } = await startWatcher(db, chain);
    const paid = await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    const [before] = await movementsOf(db, chain);
    await chain.reorg(1, [{ signed: await chain.signedOf(paid.transactionHash), blockIndex: 0 }]);
    await watch();
    const [now] = await movementsOf(db, chain);
    notEqual(now?.block_hash, paid.blockHash);
    equal(now?.revision, (before?.revision ?? 0n) + 1n, "one transaction took it from block to block");
  });

  test("an orphaned payment that is mined later revives its row", async () => {
    const { watch } = await startWatcher(db, chain);
    const paid = await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    const signed = await chain.signedOf(paid.transactionHash);
    await chain.reorg(1);
    await watch();
    await chain.sendSigned(signed);
    await watch();
    const movements = await movementsOf(db, chain);
    equal(movements.length, 1);
    equal(movements[0]?.orphaned_at, null);
    equal(movements[0]?.block_number, paid.blockNumber + 1n);
  });

  test("a transaction that pays a different amount on the new branch is recorded with that amount", async () => {
    const { watch } = await startWatcher(db, chain);
    const inbox = await insertInbox(db);
    const nonceTaker = await chain.pay(usdc, inbox, { amountUnits: 5n, from: stranger });
    await watch();
    await chain.reorg(1);
    const [other] = await chain.send(stranger, [transferCall(usdc, inbox, 6n)]);
    await watch();
    deepEqual(
      (await movementsOf(db, chain)).map((row) => [row.chain_tx, row.amount_units, row.orphaned_at === null]),
      [
        [nonceTaker.transactionHash, 5n, false],
        [other?.transactionHash, 6n, true],
      ],
    );
  });

  test("a contract that pays another inbox when mined again creates a new movement for that inbox", async () => {
    const { watch } = await startWatcher(db, chain);
    const [odd, even] = [await insertInbox(db), await insertInbox(db)];
    const nonce = await chain.client.getTransactionCount({ address: stranger.address });
    await chain.mint(usdc, getContractAddress({ from: stranger.address, nonce: BigInt(nonce) }), 5n);
    const [receipt] = await chain.send(stranger, [
      callByBlockParity({ even: transferCall(usdc, even, 5n), odd: transferCall(usdc, odd, 5n) }),
    ]);
    await watch();
    const [before] = await movementsOf(db, chain);
    const [first, second] = (receipt?.blockNumber ?? 0n) % 2n === 0n ? [even, odd] : [odd, even];
    equal(before?.inbox, first);
    const signed = await chain.signedOf(receipt?.transactionHash ?? "0x");
    await chain.mine(1);
    await chain.reorg(2, [{ signed, blockIndex: 1 }]);
    await watch();
    const movements = await movementsOf(db, chain);
    deepEqual(
      movements.map((row) => [row.chain_tx, row.identity, row.inbox, row.orphaned_at === null]),
      [
        [receipt?.transactionHash, "0", first, false],
        [receipt?.transactionHash, "0", second, true],
      ],
    );
    equal(movements[0]?.intent_id, before?.intent_id);
  });

  test("two processes follow a reorg together and apply it once", async (context) => {
    const db = await openTestDatabase("postgres");
    context.after(() => db.close());
    const [one, other] = [await startWatcher(db, chain), await startWatcher(db, chain)];
    const inbox = await insertInbox(db);
    const paid = await chain.pay(usdc, inbox, { amountUnits: 1n });
    await Promise.all([one.watch(), other.watch()]);
    const [before] = await movementsOf(db, chain);
    const signed = await chain.signedOf(paid.transactionHash);
    await chain.mine(2);
    await chain.reorg(3, [{ signed, blockIndex: 2 }]);
    await Promise.all([one.watch(), other.watch()]);
    const [now, ...others] = await movementsOf(db, chain);
    equal(others.length, 0);
    deepEqual([now?.id, now?.orphaned_at, now?.block_number], [before?.id, null, paid.blockNumber + 2n]);
  });

  for (const depth of [1, 2, 7, 20]) {
    test(`a reorg of ${depth} blocks is followed back to the common ancestor`, async () => {
      const { watch } = await startWatcher(db, chain);
      const inbox = await insertInbox(db);
      await chain.pay(usdc, inbox, { amountUnits: 1n });
      await watch();
      for (let block = 0; block < depth; block += 1) await chain.pay(usdc, inbox, { amountUnits: 2n });
      await watch();
      await chain.reorg(depth);
      const { advancedTo } = await watch();
      equal(advancedTo, await chain.client.getBlockNumber());
      const kept = (await movementsOf(db, chain)).filter((row) => row.orphaned_at === null);
      deepEqual(
        kept.map((row) => row.amount_units),
        [1n],
      );
      await assertOneChain();
    });
  }

  test("a reorg below the first watched block is followed", async () => {
    await chain.mine(2);
    const { watch } = await startWatcher(db, chain);
    await chain.reorg(3);
    const paid = await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    const { advancedTo } = await watch();
    equal(advancedTo, paid.blockNumber);
    equal((await movementsOf(db, chain))[0]?.block_hash, paid.blockHash);
    await assertOneChain();
  });

  test("a shorter branch orphans nothing until it reaches the known height", async () => {
    const { watch } = await startWatcher(db, chain);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    const { advancedTo } = await watch();
    await chain.rollback(1);
    equal((await watch()).advancedTo, advancedTo);
    equal((await movementsOf(db, chain))[0]?.orphaned_at, null);
    await chain.mine(1);
    await watch();
    ok((await movementsOf(db, chain))[0]?.orphaned_at);
  });

  test("finality is not taken from a branch that the watcher has not followed yet", async () => {
    // One node behind the URL still serves the old branch's head; another reports finality.
    const stale: { head?: BlockRef } = {};
    const { watch } = await startWatcher(db, chain, (driver) => ({
      head: async (tag) => (tag === "latest" && stale.head ? stale.head : driver.head(tag)),
    }));
    const paid = await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    stale.head = await openTestChain(chain).providers.head("latest");
    await chain.reorg(1);
    await chain.mine(3);
    await db.root
      .updateTable("chain_cursor")
      .set({ updated_at: new Date("2026-01-01T00:00:00Z") })
      .execute();
    await watch();
    const cursor = await db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
    ok(cursor.updated_at > new Date("2026-01-02T00:00:00Z"), "finality was asked for");
    ok(cursor.finalized_number < paid.blockNumber, "the block that was left must not become final");
  });

  test("a chain without any recorded block is refused with one sentence", async () => {
    const { watch } = await startWatcher(db, chain);
    const hash = sql<string>`'0x3333' || substring(hash from 7)`;
    await db.root.updateTable("chain_cursor").set({ hash }).execute();
    await db.root.updateTable("block").set({ hash }).execute();
    await chain.mine(1);
    await rejects(
      watch(),
      (error) => error instanceof ChainMismatch && /another chain, or one that was reset/.test(error.message),
    );
  });

  /** The canonical blocks form one chain that matches the provider's, and the ledger matches it. */
  async function assertOneChain(): Promise<void> {
    await assertLedgerAndWatchChecks(db);
    const blocks = await db.root
      .selectFrom("block")
      .selectAll()
      .where("orphaned_at", "is", null)
      .orderBy("number")
      .execute();
    for (const [index, block] of blocks.entries()) {
      const parent = blocks[index - 1];
      if (parent) equal(block.parent_hash, parent.hash);
      equal((await chain.client.getBlock({ blockNumber: block.number })).hash, block.hash);
    }
  }
});
