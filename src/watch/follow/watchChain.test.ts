import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { concatHex, getContractAddress, numberToHex, pad, type Hex } from "viem";
import { ProviderFailed, type BlockRef } from "../../chain/reader.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import type { Db } from "../../db/database.ts";
import { DEV_ACCOUNTS } from "../../dev/devAccounts.ts";
import { transferCall } from "../../dev/chains/tokens.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import {
  setUpWatchTests,
  startWatcher,
  batchCalls,
  movementsOf,
  insertInbox,
  transferFromAddress,
} from "../../../test/support/watcher.ts";
import { watchChain } from "./watchChain.ts";

const USDC = 1_000_000n;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const { payer, stranger } = DEV_ACCOUNTS;

describe("watchChain", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened));

  test("a payment is one movement, with its place inside its own receipt", async () => {
    const { watch } = await startWatcher(db, chain);
    const [inbox, other] = [await insertInbox(db), await insertInbox(db)];
    const [, receipt] = await chain.payInOneBlock([
      { token: usdc, to: other, amountUnits: 1n },
      { token: usdc, to: inbox, amountUnits: 5n * USDC },
    ]);
    const { advancedTo } = await watch();
    equal(advancedTo, receipt?.blockNumber);
    const movement = (await movementsOf(db, chain)).find((row) => row.inbox === inbox);
    equal(movement?.amount_units, 5n * USDC);
    equal(movement?.chain_tx, receipt?.transactionHash);
    equal(movement?.block_hash, receipt?.blockHash);
    equal(movement?.direction, "in");
    equal(movement?.counterparty, payer.address);
    equal(movement?.identity, "0");
    equal(movement?.place, 1n, "its place in the block counts the other transaction's log");
  });

  test("several transfers of one transaction differ by identity", async () => {
    const { watch } = await startWatcher(db, chain);
    const inboxes = [await insertInbox(db), await insertInbox(db)] as const;
    const nonce = await chain.client.getTransactionCount({ address: stranger.address });
    const contract = getContractAddress({ from: stranger.address, nonce: BigInt(nonce) });
    await chain.mint(usdc, contract, 10n);
    await chain.send(stranger, [
      batchCalls([
        transferCall(usdc, inboxes[0], 1n),
        transferCall(usdc, stranger.address, 2n),
        transferCall(usdc, inboxes[1], 3n),
        transferCall(usdc, inboxes[0], 4n),
      ]),
    ]);
    await watch();
    deepEqual(
      (await movementsOf(db, chain)).map((row) => [row.inbox, row.identity, row.amount_units]),
      [
        [inboxes[0], "0", 1n],
        [inboxes[1], "2", 3n],
        [inboxes[0], "3", 4n],
      ],
    );
  });

  test("a transfer whose transaction reverts is ignored", async () => {
    const { watch } = await startWatcher(db, chain);
    const inbox = await insertInbox(db);
    const nonce = await chain.client.getTransactionCount({ address: stranger.address });
    await chain.mint(usdc, getContractAddress({ from: stranger.address, nonce: BigInt(nonce) }), 10n);
    const [receipt] = await chain.send(stranger, [batchCalls([transferCall(usdc, inbox, 1n)], "reverts")]);
    equal(receipt?.status, "reverted");
    await watch();
    deepEqual(await movementsOf(db, chain), []);
  });

  test("the same event of another contract and a transfer of zero are ignored", async () => {
    const { watch } = await startWatcher(db, chain);
    const inbox = await insertInbox(db);
    const word = (value: Hex) => concatHex(["0x7f", pad(value, { size: 32 })]);
    const amount = numberToHex(USDC, { size: 32 });
    const forged = concatHex([
      word(amount),
      "0x600052",
      word(inbox),
      word(payer.address),
      word(TRANSFER),
      "0x60206000a300",
    ]);
    const [receipt] = await chain.send(stranger, [{ data: forged }]);
    equal(receipt?.logs.length, 1);
    await chain.pay(usdc, inbox, { amountUnits: 0n });
    const { advancedTo } = await watch();
    equal(advancedTo, await chain.client.getBlockNumber());
    deepEqual(await movementsOf(db, chain), []);
  });

  test("movements out are recorded, and transfers between two inboxes count twice", async () => {
    const { watch } = await startWatcher(db, chain);
    const [inbox, other] = [await insertInbox(db), await insertInbox(db)];
    await chain.pay(usdc, inbox, { amountUnits: 9n });
    await transferFromAddress(chain, inbox, { token: usdc, to: stranger.address, amountUnits: 4n });
    await transferFromAddress(chain, inbox, { token: usdc, to: other, amountUnits: 5n });
    await watch();
    deepEqual(
      (await movementsOf(db, chain)).map((row) => [row.direction, row.inbox, row.counterparty, row.amount_units]),
      [
        ["in", inbox, payer.address, 9n],
        ["out", inbox, stranger.address, 4n],
        ["in", other, inbox, 5n],
        ["out", inbox, other, 5n],
      ],
    );
  });

  test("both tokens are watched, and tokens minted into an inbox", async () => {
    const { watch } = await startWatcher(db, chain);
    const inbox = await insertInbox(db);
    await chain.mint(usdc, inbox, 1n);
    await chain.pay(chain.dusd.address, inbox, { amountUnits: 10n ** 18n });
    await watch();
    const movements = await movementsOf(db, chain);
    deepEqual(
      movements.map((row) => [row.token, row.amount_units]),
      [
        [usdc, 1n],
        [chain.dusd.address, 10n ** 18n],
      ],
    );
  });

  test("new movements wake their consumers, and later ones have a higher revision", async () => {
    const { watch, world } = await startWatcher(db, chain);
    const notified: string[] = [];
    world.wake.notify = (topic) => notified.push(topic);
    const inbox = await insertInbox(db);
    await chain.pay(usdc, inbox, { amountUnits: 1n });
    await watch();
    await chain.pay(usdc, inbox, { amountUnits: 2n });
    await watch();
    const [first, second] = await movementsOf(db, chain);
    ok(first && second && second.revision > first.revision);
    deepEqual(new Set(notified), new Set([`deposits:${chain.caip2}`, `settlements:${chain.caip2}`]));
  });

  test("two processes on one cursor record each movement once", async (context) => {
    const db = await openTestDatabase("postgres");
    context.after(() => db.close());
    const [one, other] = [await startWatcher(db, chain), await startWatcher(db, chain)];
    const inbox = await insertInbox(db);
    for (let payment = 1n; payment <= 5n; payment += 1n) {
      await chain.pay(usdc, inbox, { amountUnits: payment });
      await Promise.all([one.watch(), other.watch()]);
    }
    deepEqual(
      (await movementsOf(db, chain)).map((row) => row.amount_units),
      [1n, 2n, 3n, 4n, 5n],
    );
  });

  test("a process with an outdated cursor writes nothing", async (context) => {
    const db = await openTestDatabase("postgres");
    context.after(() => db.close());
    const asked = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    const sleepy = await startWatcher(db, chain, (reader) => ({
      transfers: async (...question) => {
        asked.resolve();
        await awake.promise;
        return reader.transfers(...question);
      },
    }));
    const other = await startWatcher(db, chain);
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    const sleeping = sleepy.watch();
    await asked.promise;
    await chain.mine(3);
    const { advancedTo } = await other.watch();
    const readCursor = () => db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
    const before = await readCursor();
    awake.resolve();
    await sleeping;
    deepEqual(await readCursor(), before);
    equal(before.number, advancedTo);
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("a lagging head never moves the cursor back", async () => {
    let lag = 0n;
    const { watch } = await startWatcher(db, chain, (reader) => ({
      head: async (tag) => {
        const head = await reader.head(tag);
        return (await reader.block({ number: head.number - lag })) ?? head;
      },
    }));
    const inbox = await insertInbox(db);
    await chain.pay(usdc, inbox, { amountUnits: 1n });
    const { advancedTo } = await watch();
    lag = 3n;
    await chain.mine(1);
    deepEqual(await watch(), { advancedTo, isBehind: false });
    const [movement] = await movementsOf(db, chain);
    equal(movement?.orphaned_at, null);
  });

  test("a provider without the head's logs is asked again, and no movement is lost", async () => {
    let lacks = true;
    const { watch } = await startWatcher(db, chain, (reader) => ({
      transfers: async (...question) => {
        if (lacks) throw new ProviderFailed("unknown_block", "unknown block");
        return reader.transfers(...question);
      },
    }));
    const inbox = await insertInbox(db);
    const { blockNumber } = await chain.pay(usdc, inbox, { amountUnits: 1n });
    const { advancedTo } = await watch();
    equal(advancedTo, blockNumber - 1n);
    lacks = false;
    equal((await watch()).advancedTo, blockNumber);
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("a receipt of another block records nothing", async () => {
    let isOld = true;
    const { watch } = await startWatcher(db, chain, (reader) => ({
      proofs: async (chainTxs) => {
        const positions = await reader.proofs(chainTxs);
        return isOld ? positions.map((position) => ({ ...position, blockHash: `0x${"11".repeat(32)}` })) : positions;
      },
    }));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    deepEqual(await movementsOf(db, chain), []);
    isOld = false;
    await watch();
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("when the first provider is unreachable the next one answers", async () => {
    let isAway = false;
    const { watch } = await startWatcher(
      db,
      chain,
      (reader) => ({
        head: async (tag) => {
          if (isAway) throw new ProviderFailed("unreachable", "connection refused");
          return reader.head(tag);
        },
      }),
      () => ({}),
    );
    isAway = true;
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("when the first provider reports no new block for long, another one reports the head", async () => {
    const first: { stuckAt?: BlockRef } = {};
    const { world, chain: watched } = await startWatcher(
      db,
      chain,
      (reader) => ({ head: async (tag) => first.stuckAt ?? reader.head(tag) }),
      () => ({}),
    );
    first.stuckAt = await watched.providers.head("latest");
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    const later = { ...world.clock, monotonicMs: () => world.clock.monotonicMs() + 31_000 };
    await watchChain(world, watched);
    equal((await movementsOf(db, chain)).length, 0);
    await watchChain({ ...world, clock: later }, watched);
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("a database with another chain of this name is refused", async () => {
    await startWatcher(db, chain);
    await db.root
      .updateTable("chain_cursor")
      .set({ genesis_hash: `0x${"22".repeat(32)}` })
      .execute();
    await rejects(
      startWatcher(db, chain),
      (error) => error instanceof ChainMismatch && /begins with block/.test(error.message),
    );
  });

  test("finality follows the chain's tags, in known blocks", async () => {
    const { watch } = await startWatcher(db, chain);
    const { blockNumber } = await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    await watch();
    await chain.mine(2);
    await watch();
    const cursor = await db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow();
    equal(cursor.number, blockNumber + 2n);
    equal(cursor.finalized_number, blockNumber);
    equal(cursor.safe_number, blockNumber + 1n);
  });
});
