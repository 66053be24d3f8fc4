import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import type { Hex } from "viem";
import type { Db } from "../../db/database.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { deleteIntents, insertIntent, insertIntentRow } from "../../../test/support/intents.ts";
import { setUpWatchTests, startWatcher, movementsOf, insertInbox } from "../../../test/support/watcher.ts";

describe("rereading final blocks", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened));

  test("a movement missing in the first read is recorded", async () => {
    const { watch } = await startWatcher(db, chain, (reader) => ({
      transfers: async (scope, tokens) => ("blockHash" in scope ? [] : reader.transfers(scope, tokens)),
    }));
    const paid = await chain.pay(usdc, await insertInbox(db), { amountUnits: 3n });
    await watch();
    deepEqual(await movementsOf(db, chain), []);
    await chain.finalize();
    await watch();
    const [movement] = await movementsOf(db, chain);
    equal(movement?.chain_tx, paid.transactionHash);
    equal(movement?.amount_units, 3n);
    const { revision } = await db.root.selectFrom("chain_cursor").select("revision").executeTakeFirstOrThrow();
    equal(movement?.revision, revision);
  });

  test("a movement in an unknown block is recorded only after its branch is followed", async () => {
    const elsewhere: Hex = `0x${"e1".repeat(32)}`;
    let isElsewhere = true;
    const moved = <T extends { blockHash: string }>(transfers: T[]) =>
      transfers.map((one) => (isElsewhere ? { ...one, blockHash: elsewhere } : one));
    const { watch } = await startWatcher(db, chain, (reader) => ({
      transfers: async (scope, tokens) => ("blockHash" in scope ? [] : moved(await reader.transfers(scope, tokens))),
      proofs: async (chainTxs) => moved(await reader.proofs(chainTxs)),
    }));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 3n });
    await watch();
    // Not the last final block, which is compared in any case.
    await chain.mine(1);
    await chain.finalize();
    await watch();
    deepEqual(await movementsOf(db, chain), []);
    isElsewhere = false;
    await watch();
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      [3n],
    );
  });

  test("an inbox that was not in memory is matched by the database", async () => {
    const { watch } = await startWatcher(db, chain);
    const planned = await insertIntent(db);
    await deleteIntents(db, [planned.inbox_address]);
    await chain.pay(usdc, planned.inbox_address as Hex, { amountUnits: 4n });
    await watch();
    const { seq: _, ...columns } = planned;
    await insertIntentRow(db, { ...columns, metadata: null });
    await chain.finalize();
    await watch();
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      [4n],
    );
  });

  test("a movement missing on the final chain is orphaned", async () => {
    const { watch } = await startWatcher(db, chain);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 5n });
    await watch();
    await sql`update movement set chain_tx = ${`0x${"44".repeat(32)}`}, place = 99`.execute(db.root);
    await chain.finalize();
    await watch();
    const [forged, real] = await movementsOf(db, chain);
    ok(forged?.orphaned_at);
    ok(real && real.orphaned_at === null && real.amount_units === 5n);
  });

  test("a movement whose log is missing in the reread stays while its receipt exists", async () => {
    const { watch } = await startWatcher(db, chain, (reader) => ({
      transfers: async (scope, tokens) => ("blockHash" in scope ? reader.transfers(scope, tokens) : []),
    }));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 6n });
    await watch();
    await chain.finalize();
    await watch();
    const [movement] = await movementsOf(db, chain);
    equal(movement?.orphaned_at, null);
    const cursor = await db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
    equal(cursor.reread_number, movement?.block_number);
  });

  test("a correct movement stays unchanged and keeps its revision", async () => {
    const { watch } = await startWatcher(db, chain);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 7n });
    await watch();
    const before = await movementsOf(db, chain);
    await chain.finalize();
    await watch();
    deepEqual(await movementsOf(db, chain), before);
  });

  test("a reread uses another provider where there is one", async () => {
    const askedProviders: string[] = [];
    const noting = (name: string) => (reader: { transfers: Function }) => ({
      transfers: async (...question: unknown[]) => {
        askedProviders.push(`${name} ${"blockHash" in (question[0] as object) ? "hash" : "range"}`);
        return reader.transfers(...question) as Promise<[]>;
      },
    });
    const { watch } = await startWatcher(db, chain, noting("first"), noting("second"));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 8n });
    await watch();
    await chain.finalize();
    await watch();
    deepEqual(new Set(askedProviders), new Set(["first hash", "second range"]));
  });

  test("old blocks are pruned, except those with a movement and those within reorg depth", async () => {
    const { watch } = await startWatcher(db, chain);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 9n });
    await watch();
    const [movement] = await movementsOf(db, chain);
    for (let round = 0; round < 22; round += 1) {
      await chain.mine(32);
      while ((await watch()).isBehind) await watch();
    }
    const blocks = await db.root.selectFrom("block").select("number").orderBy("number").execute();
    const head = await chain.client.getBlockNumber();
    equal(blocks[0]?.number, movement?.block_number);
    ok((blocks[1]?.number ?? 0n) >= head - 512n - 40n);
    ok(blocks.length <= 560);
  });
});
