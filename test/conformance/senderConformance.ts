import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { SettleRefused, type SettleItem } from "../../src/chain/sender.ts";
import type { Db } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { openTestDatabase } from "../support/database.ts";
import type { SettlingChainUnderTest } from "./chainUnderTest.ts";

/** The first of this many blocks is final. */
const FINAL_BLOCKS = 3;

/** Tests the assumptions of the settlement station about every chain's sender, on the chain that `open` returns. */
export function describeSenderConformance(name: string, open: () => Promise<SettlingChainUnderTest>): void {
  describe(`chain conformance: the sender of ${name}`, () => {
    let chain: SettlingChainUnderTest;
    let db: Db;
    before(async () => {
      [chain, db] = await Promise.all([open(), openTestDatabase("postgres")]);
    });
    after(async () => {
      await chain.close();
      await db.close();
    });

    const world = () => ({ db, clock: systemClock, log: pino({ level: "silent" }) });
    const process = () => chain.chain.sender.process(world());
    const outgoing = () => db.root.selectFrom("outgoing_transaction").selectAll().orderBy("id").execute();
    const statusOf = async (id: bigint) => (await outgoing()).find((row) => row.id === id)?.status;

    const newItem = (payout = chain.newAddress()) => ({ ...chain.newItem(payout), payout });
    async function newPaidItem(units: bigint, payout?: string) {
      const item = newItem(payout);
      await chain.pay(chain.payers[0], { token: item.token, to: item.inbox, units });
      await chain.mine();
      return item;
    }
    async function store(items: readonly SettleItem[]): Promise<bigint> {
      const prepared = await chain.chain.sender.prepare(world(), items);
      ok(prepared);
      return db.transaction((tx) => prepared.store(tx, systemClock.now()));
    }
    async function balanceOf(owner: string): Promise<bigint | undefined> {
      const { number } = await chain.reader.head("latest");
      return (await chain.reader.balances(chain.tokens.plain, [owner], { blockNumber: number }))[0];
    }
    /** Broadcasts, then mines until the mined transactions are final and closed. */
    async function settle(): Promise<void> {
      await process();
      await chain.mine(FINAL_BLOCKS);
      await process();
    }

    test("the sender finds its contracts on the chain, and its payer has funds", async () => {
      await chain.chain.sender.verify(chain.config);
      ok((await chain.chain.sender.feeBalance()) > 0n);
      ok(chain.chain.sender.payer !== "");
    });

    test("a stored settlement moves nothing before it is processed, pays payout and fee, and is closed when final", async () => {
      const item = await newPaidItem(1_999n);
      const before = (await outgoing()).length;
      const prepared = await chain.chain.sender.prepare(world(), [item]);
      ok(prepared);
      equal((await outgoing()).length, before, "a prepared transaction is not signed yet");
      const id = await db.transaction((tx) => prepared.store(tx, systemClock.now()));
      await chain.mine();
      equal(await balanceOf(item.inbox), 1_999n);
      await process();
      await chain.mine();
      deepEqual([await balanceOf(item.inbox), await balanceOf(item.payout)], [0n, 1_990n]);
      equal(await statusOf(id), "signed", "its block is not final");
      await chain.mine(FINAL_BLOCKS);
      await process();
      const closed = (await outgoing()).find((row) => row.id === id);
      equal(closed?.status, "mined");
      const [proof] = await chain.reader.proofs([closed?.mined_chain_tx ?? ""]);
      deepEqual([proof?.succeeded, proof?.blockNumber], [true, closed?.mined_block_number]);
      const scope = { blockHash: proof?.blockHash ?? "", blockNumber: proof?.blockNumber ?? 0n };
      const legs = await chain.reader.transfers(scope, [item.token], [item.inbox]);
      deepEqual(
        legs.map(({ to, amountText, chainTx }) => [to, BigInt(amountText), chainTx]),
        [
          [item.payout, 1_990n, closed?.mined_chain_tx],
          [chain.feeRecipient, 9n, closed?.mined_chain_tx],
        ],
      );
    });

    test("items of one batch settle in one transaction", async () => {
      const payout = chain.newAddress();
      const items = [await newPaidItem(200n, payout), await newPaidItem(400n, payout)];
      equal(new Set(chain.chain.sender.batchKeys(items)).size, 1);
      const before = (await outgoing()).length;
      const id = await store(items);
      await settle();
      equal((await outgoing()).length, before + 1);
      equal(await statusOf(id), "mined");
      equal(await balanceOf(payout), 199n + 398n);
    });

    test("an item that cannot settle is refused by the check and by prepare, and the others are not", async () => {
      const [settleable, blocked, empty] = [await newPaidItem(300n), await newPaidItem(300n), newItem()];
      await chain.blocklist(blocked.payout);
      const [first, second, third] = await chain.chain.sender.refusals([settleable, blocked, empty]);
      deepEqual([first, third], [undefined, undefined]);
      match(second ?? "", /^settle_refused ./);
      const before = (await outgoing()).length;
      await rejects(chain.chain.sender.prepare(world(), [blocked]), SettleRefused);
      equal((await outgoing()).length, before);
      await chain.unblocklist(blocked.payout);
      deepEqual(await chain.chain.sender.refusals([blocked]), [undefined]);
    });

    test("a settlement of a rolled-back database transaction is never sent, and blocks nothing", async () => {
      const [lost, kept] = [await newPaidItem(500n), await newPaidItem(600n)];
      const prepared = await chain.chain.sender.prepare(world(), [lost]);
      ok(prepared);
      const undone = db.transaction(async (tx) => {
        await prepared.store(tx, systemClock.now());
        throw new Error("rolled back");
      });
      await rejects(undone, { message: "rolled back" });
      const id = await store([kept]);
      await settle();
      equal(await statusOf(id), "mined");
      deepEqual([await balanceOf(lost.inbox), await balanceOf(kept.payout)], [500n, 597n]);
    });

    test("a settlement that a reorg drops is sent again, and settles once despite repeated processing", async () => {
      const item = await newPaidItem(800n);
      await chain.mine();
      const id = await store([item]);
      await process();
      await chain.mine();
      equal(await balanceOf(item.inbox), 0n);
      await chain.reorg(1);
      equal(await balanceOf(item.inbox), 800n);
      await process();
      await process();
      await settle();
      equal(await statusOf(id), "mined");
      deepEqual([await balanceOf(item.inbox), await balanceOf(item.payout)], [0n, 796n]);
      await settle();
      equal(await balanceOf(item.payout), 796n);
    });

    test("several settlements at once are all mined, and a second one of an inbox moves nothing", async () => {
      const items = [await newPaidItem(1_000n), await newPaidItem(2_000n)];
      const [first] = items;
      ok(first);
      const ids = [await store(items.slice(0, 1)), await store(items.slice(1)), await store([first])];
      await settle();
      await settle();
      deepEqual(await Promise.all(ids.map(statusOf)), ["mined", "mined", chain.emptySettlementStatus]);
      deepEqual(await Promise.all(items.map(({ payout }) => balanceOf(payout))), [995n, 1_990n]);
    });
  });
}
