import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import type { Hex } from "viem";
import { DEV_ACCOUNTS } from "../../dev/devAccounts.ts";
import { transferCall } from "../../dev/chains/tokens.ts";
import type { Db } from "../../db/database.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { insertIntent } from "../../../test/support/intents.ts";
import { setUpWatchTests, startWatcher, movementsOf } from "../../../test/support/watcher.ts";
import { rescanChainTx, rescanIntent } from "./rescan.ts";

describe("rescans", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened));

  /** A recorded payment whose row is then deleted. */
  async function lostPayment() {
    const { watch, world, chain: watched } = await startWatcher(db, chain);
    const intent = await insertIntent(db);
    const paid = await chain.pay(usdc, intent.inbox_address as Hex, { amountUnits: 5n });
    await watch();
    await sql`delete from movement`.execute(db.root);
    return { world: { ...world, chains: new Map([[watched.caip2, watched]]) }, look: watch, intent, paid };
  }

  test("a rescan of a transaction records it once", async () => {
    const { world, paid } = await lostPayment();
    const [found] = await rescanChainTx(world, { chainTx: paid.transactionHash });
    equal(found?.outcome, "read");
    deepEqual(
      found?.recorded.map((row) => [row.chain_tx, row.amount_units, row.block_hash]),
      [[paid.transactionHash, 5n, paid.blockHash]],
    );
    const { revision } = await db.root.selectFrom("chain_cursor").select("revision").executeTakeFirstOrThrow();
    equal(found?.recorded[0]?.revision, revision);
    const again = await rescanChainTx(world, { chain: chain.caip2, chainTx: paid.transactionHash });
    deepEqual(again, [{ chain: chain.caip2, outcome: "read", recorded: [] }]);
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("a rescan covers an intent's inbox", async () => {
    const { world, intent, paid } = await lostPayment();
    const [found] = await rescanIntent(world, intent.id);
    deepEqual(
      found?.recorded.map((row) => [row.intent_id, row.chain_tx]),
      [[intent.id, paid.transactionHash]],
    );
    deepEqual((await rescanIntent(world, intent.id))[0]?.recorded, []);
  });

  test("a rescan records nothing of a replaced or unread block", async () => {
    const { world, intent, paid } = await lostPayment();
    await db.root
      .updateTable("block")
      .set({ hash: `0x${"55".repeat(32)}` })
      .where("number", "=", paid.blockNumber)
      .execute();
    deepEqual((await rescanIntent(world, intent.id))[0]?.recorded, []);
    const ahead = await chain.pay(usdc, intent.inbox_address as Hex, { amountUnits: 6n });
    const [found] = await rescanChainTx(world, { chainTx: ahead.transactionHash });
    deepEqual(found, { chain: chain.caip2, outcome: "ahead", recorded: [] });
  });

  test("a rescan that finds no movement returns the reason", async () => {
    const { world, intent } = await lostPayment();
    const outcomeOf = async (chainTx: string) => (await rescanChainTx(world, { chainTx }))[0]?.outcome;
    equal(await outcomeOf(`0x${"66".repeat(32)}`), "unknown");
    const tooMuch = transferCall(usdc, intent.inbox_address as Hex, 10n ** 30n);
    const [reverted] = await chain.send(DEV_ACCOUNTS.stranger, [tooMuch]);
    equal(await outcomeOf(reverted?.transactionHash ?? ""), "reverted");
    await rejects(rescanIntent(world, "pi_none"), { code: "not_found" });
    await rejects(rescanChainTx(world, { chain: "eip155:1", chainTx: "0x" }), { code: "not_found" });
  });
});
