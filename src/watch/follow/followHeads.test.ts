import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import type { BlockRef } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import { assertLedgerAndWatchChecks } from "../../../test/support/ledgerAssertions.ts";
import {
  setUpWatchTests,
  startWatcher,
  movementsOf,
  insertInbox,
  openTestChain,
} from "../../../test/support/watcher.ts";
import { followHeads, contiguousHeads } from "./followHeads.ts";

describe("following heads", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { strangerUnits: 1_000n, checksLedger: true });

  const headAt = async (number: bigint): Promise<BlockRef> => {
    const head = await openTestChain(chain).providers.block({ number });
    ok(head);
    return head;
  };
  const latest = () => openTestChain(chain).providers.head("latest");
  async function pay(units: bigint): Promise<BlockRef> {
    const { blockNumber } = await chain.pay(usdc, await insertInbox(db), { amountUnits: units });
    return headAt(blockNumber);
  }
  const readCursor = () => db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
  const amounts = async () => (await movementsOf(db, chain)).map((row) => row.amount_units);

  test("the next block is recorded completely, and its consumers wake", async () => {
    const { world, chain: watched } = await startWatcher(db, chain);
    const notified: string[] = [];
    world.wake.notify = (topic) => notified.push(topic);
    const head = await pay(5n);
    equal(await followHeads(world, watched, [head]), "recorded");
    const [movement] = await movementsOf(db, chain);
    deepEqual([movement?.amount_units, movement?.block_hash, movement?.identity], [5n, head.hash, "0"]);
    const { number, hash } = await readCursor();
    deepEqual({ number, hash }, { number: head.number, hash: head.hash });
    deepEqual(notified, [`deposits:${chain.caip2}`, `settlements:${chain.caip2}`]);
  });

  test("heads that arrive together are recorded together, and repeated heads are passed", async () => {
    const { world, chain: watched } = await startWatcher(db, chain);
    const heads = [await pay(1n), await pay(2n), await pay(3n)];
    equal(await followHeads(world, watched, heads), "recorded");
    deepEqual(await amounts(), [1n, 2n, 3n]);
    equal(await followHeads(world, watched, heads), "stale");
  });

  test("finality and booking advance while the first provider lags behind pushed heads permanently", async () => {
    let lagging = await latest();
    const {
      world,
      chain: watched,
      watch,
    } = await startWatcher(
      db,
      chain,
      () => ({ head: async () => lagging }),
      () => ({}),
    );
    for (let units = 1n; units <= 3n; units += 1n) {
      const head = await pay(units);
      equal(await followHeads(world, watched, [head]), "recorded");
      await watch();
      // Two confirmations count here.
      equal((await readCursor()).booked_number, head.number - 1n);
      lagging = await headAt(head.number);
    }
  });

  test("a gap or a wrong order loses nothing, because the chain is polled", async () => {
    const { world, chain: watched, watch } = await startWatcher(db, chain);
    const [first, second, third] = [await pay(1n), await pay(2n), await pay(3n)];
    equal(await followHeads(world, watched, [second, first]), "discontinuous");
    deepEqual(await amounts(), []);
    equal(await followHeads(world, watched, [first, third]), "discontinuous");
    deepEqual(await amounts(), [1n]);
    await watch();
    deepEqual(await amounts(), [1n, 2n, 3n]);
    equal(await followHeads(world, watched, [await pay(4n)]), "recorded");
  });

  test("a head of another branch is left to the poll, which orphans the replaced blocks", async () => {
    const { world, chain: watched, watch } = await startWatcher(db, chain);
    equal(await followHeads(world, watched, [await pay(1n)]), "recorded");
    await chain.reorg(1);
    equal(await followHeads(world, watched, [await latest()]), "discontinuous");
    await watch();
    const [movement] = await movementsOf(db, chain);
    ok(movement?.orphaned_at);
    equal(await followHeads(world, watched, [await pay(2n)]), "recorded");
  });

  test("a transaction that a reorg moves to another block stays the same movement", async () => {
    const { world, chain: watched, watch } = await startWatcher(db, chain);
    const { transactionHash } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 7n });
    const signed = await chain.signedOf(transactionHash);
    equal(await followHeads(world, watched, [await latest()]), "recorded");
    await chain.rollback(1);
    await chain.mine(1);
    await watch();
    await chain.sendSigned(signed);
    const head = await latest();
    equal(await followHeads(world, watched, [head]), "recorded");
    const movements = await movementsOf(db, chain);
    deepEqual(
      movements.map((row) => [row.amount_units, row.block_hash, row.orphaned_at]),
      [[7n, head.hash, null]],
    );
  });

  test("a booked movement that is pushed again in another block is reversed at once", async () => {
    const blocks: { paid?: BlockRef; again?: BlockRef } = {};
    const {
      world,
      chain: watched,
      watch,
    } = await startWatcher(db, chain, (reader) => ({
      transfers: async (scope, tokens) => {
        const { paid, again } = blocks;
        if (!paid || !again || !("blockHash" in scope) || scope.blockHash !== again.hash)
          return reader.transfers(scope, tokens);
        const transfers = await reader.transfers({ blockHash: paid.hash, blockNumber: paid.number }, tokens);
        return transfers.map((transfer) => ({ ...transfer, blockNumber: again.number, blockHash: again.hash }));
      },
      proofs: async (chainTxs) => {
        const positions = await reader.proofs(chainTxs);
        const { again } = blocks;
        return positions.map((position) => ({
          ...position,
          ...(again && { blockNumber: again.number, blockHash: again.hash }),
        }));
      },
    }));
    blocks.paid = await pay(5n);
    equal(await followHeads(world, watched, [blocks.paid]), "recorded");
    await chain.mine(2);
    await watch();
    ok((await readCursor()).booked_number >= blocks.paid.number);
    await chain.mine(1);
    blocks.again = await latest();
    equal(await followHeads(world, watched, [blocks.again]), "recorded");
    const [movement] = await movementsOf(db, chain);
    equal(movement?.block_hash, blocks.again.hash);
    await assertLedgerAndWatchChecks(db);
  });

  test("a pushed head that no provider confirms changes nothing", async () => {
    const { world, chain: watched } = await startWatcher(db, chain);
    const before = await readCursor();
    const head = await pay(1n);
    const [past] = [await headAt(before.number - 1n)];
    for (const altered of [
      { ...head, hash: `0x${"77".repeat(32)}` },
      // A real block with a false parent.
      { ...past, number: head.number, parentHash: before.hash },
    ])
      equal(await followHeads(world, watched, [altered]), "discontinuous");
    deepEqual(await readCursor(), before);
    equal(await followHeads(world, watched, [head]), "recorded");
  });

  test("a block of another branch with a false parent changes nothing", async () => {
    const { world, chain: watched, watch } = await startWatcher(db, chain);
    equal(await followHeads(world, watched, [await pay(1n)]), "recorded");
    const before = await readCursor();
    await chain.reorg(1);
    const head = await pay(2n);
    equal(await followHeads(world, watched, [{ ...head, parentHash: before.hash }]), "discontinuous");
    deepEqual(await readCursor(), before);
    await watch();
    equal((await readCursor()).hash, head.hash);
  });

  test("a provider without the block yet is asked again", async () => {
    let early = 2;
    const { world, chain: watched } = await startWatcher(db, chain, (reader) => ({
      block: async (at) => ("hash" in at && (early -= 1) >= 0 ? undefined : reader.block(at)),
    }));
    equal(await followHeads(world, watched, [await pay(1n)]), "recorded");
  });

  test("two processes with the same heads record each movement once", async (context) => {
    const db = await openTestDatabase("postgres");
    context.after(() => db.close());
    const [one, other] = [await startWatcher(db, chain), await startWatcher(db, chain)];
    const inbox = await insertInbox(db);
    for (let payment = 1n; payment <= 5n; payment += 1n) {
      const { blockNumber } = await chain.pay(usdc, inbox, { amountUnits: payment });
      const head = await headAt(blockNumber);
      const outcomes = await Promise.all([one, other].map((each) => followHeads(each.world, each.chain, [head])));
      ok(outcomes.includes("recorded"), outcomes.join());
    }
    const movements = await db.root.selectFrom("movement").select("amount_units").orderBy("id").execute();
    deepEqual(
      movements.map((row) => row.amount_units),
      [1n, 2n, 3n, 4n, 5n],
    );
    await assertLedgerAndWatchChecks(db);
  });

  test("finality and booking advance on a chain that is faster than its providers' answers", async () => {
    let onAsked: () => Promise<unknown> = async () => undefined;
    const {
      world,
      chain: watched,
      watch,
    } = await startWatcher(
      db,
      chain,
      () => ({}),
      (reader) => ({
        name: "second",
        head: async (tag) => {
          const head = await reader.head(tag);
          if (tag === "finalized") await onAsked();
          return head;
        },
      }),
    );
    const paid = await pay(5n);
    await followHeads(world, watched, [paid]);
    await chain.mine(2);
    await watch();
    onAsked = async () => {
      onAsked = async () => undefined;
      await chain.mine(1);
      equal(await followHeads(world, watched, [await latest()]), "recorded");
    };
    await chain.mine(1);
    await watch();
    const cursor = await readCursor();
    equal(cursor.number, (await latest()).number);
    equal(cursor.finalized_number, paid.number + 1n);
    equal(cursor.booked_number, cursor.finalized_number);
  });
});

test("contiguousHeads returns the heads that follow the cursor", () => {
  const ref = (number: number, parent = number - 1): BlockRef => ({
    number: BigInt(number),
    hash: `h${number}`,
    parentHash: `h${parent}`,
    timestampS: 0,
  });
  const linked = (...heads: BlockRef[]) => {
    const { blocks, isComplete } = contiguousHeads({ number: 5n, hash: "h5" }, heads);
    return [blocks.map(({ number }) => Number(number)).join(), isComplete];
  };
  deepEqual(linked(), ["", true]);
  deepEqual(linked(ref(4), ref(5)), ["", true]);
  deepEqual(linked(ref(6), ref(6), ref(7)), ["6,7", true]);
  deepEqual(linked(ref(6), { ...ref(6), hash: "x6" }), ["6", false]);
  deepEqual(linked({ ...ref(5), hash: "x5" }), ["", false]);
  deepEqual(linked(ref(7)), ["", false]);
  // Either flag alone is enough to refuse.
  deepEqual(linked({ ...ref(6), parentHash: "x5" }), ["", false]);
  deepEqual(linked({ ...ref(7), parentHash: "h5" }), ["", false]);
  deepEqual(linked(ref(6), { ...ref(7), parentHash: "x6" }), ["6", false]);
  deepEqual(linked(...Array.from({ length: 40 }, (_, index) => ref(6 + index)))[1], false);
});
