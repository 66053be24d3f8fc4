import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import type { TestChain } from "../../../test/support/chain.ts";
import { openDustSender } from "../../../test/support/dustSender.ts";
import { insertIntent } from "../../../test/support/intents.ts";
import { setUpWatchTests, startWatcher } from "../../../test/support/watcher.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import { addMs, systemClock } from "../../kernel/clock.ts";
import { countUnreadable } from "../unreadable/unreadableStore.ts";
import { recordPostponed } from "./recordPostponed.ts";

const MINIMUM = 1_000_000n;
const MANY = 600;
const LATER_MS = 10_000;

describe("very much dust at once", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { checksLedger: true });

  const countOf = async ({ id }: IntentRow) =>
    (await db.root.selectFrom("movement").select("id").where("intent_id", "=", id).execute()).length;
  const openRows = () => db.root.selectFrom("unreadable").select(["block_number", "inboxes"]).execute();

  async function setUp() {
    const { watch, world, chain: watched } = await startWatcher(db, chain);
    const later = { ...systemClock, now: () => addMs(systemClock.now(), LATER_MS) };
    const recordLater = async () => {
      while (await recordPostponed({ ...world, clock: later }, watched));
    };
    const recordNow = () => recordPostponed(world, watched);
    const sender = await openDustSender(chain);
    const [flooded, paid] = [
      await insertIntent(db, { minimum_units: MINIMUM }),
      await insertIntent(db, { minimum_units: MINIMUM }),
    ];
    return { watch, sender, flooded, paid, recordLater, recordNow };
  }

  test("a payment behind it is recorded first, and the dust seconds later", async () => {
    const { watch, sender, flooded, paid, recordLater, recordNow } = await setUp();
    await sender.send(flooded.inbox_address as Hex, MANY);
    await chain.pay(usdc, paid.inbox_address as Hex, { amountUnits: MINIMUM });
    await watch();
    deepEqual([await countOf(flooded), await countOf(paid)], [0, 1]);
    deepEqual(
      (await openRows()).map(({ inboxes }) => inboxes),
      [[flooded.inbox_address]],
    );
    deepEqual(await countUnreadable(db), [], "no provider failed to read it");
    await recordNow();
    equal(await countOf(flooded), 0, "it waits a few seconds");
    await recordLater();
    deepEqual([await countOf(flooded), await openRows()], [MANY, []]);
    await watch();
    equal(await countOf(flooded), MANY);
  });

  test("few transfers, and those of intents without a minimum, are recorded with their block", async () => {
    const { watch, sender, flooded } = await setUp();
    await sender.send(flooded.inbox_address as Hex, 100);
    await watch();
    equal(await countOf(flooded), 100);
    const open = await insertIntent(db);
    await sender.send(open.inbox_address as Hex, MANY);
    await watch();
    equal(await countOf(open), MANY);
  });

  test("a transfer that reaches the price alone does not wait", async () => {
    const { watch, sender } = await setUp();
    const priced = await insertIntent(db, { minimum_units: MINIMUM, price_token_units: 1n });
    await sender.send(priced.inbox_address as Hex, MANY);
    await watch();
    equal(await countOf(priced), MANY);
  });

  test("dust of a replaced block is recorded where its transaction stands afterwards, once", async () => {
    const { watch, sender, flooded, recordLater } = await setUp();
    await sender.send(flooded.inbox_address as Hex, MANY);
    const signed = await chain.signedOf(await lastTransaction());
    await chain.mine(1);
    await watch();
    const [first] = await openRows();
    await chain.reorg(2, [{ signed, blockIndex: 1 }]);
    await watch();
    await recordLater();
    await watch();
    await recordLater();
    equal(await countOf(flooded), MANY);
    const { block_number } = await db.root.selectFrom("movement").select("block_number").executeTakeFirstOrThrow();
    equal(block_number === first?.block_number, false);
    deepEqual(await openRows(), []);
  });

  test("the second reading of final blocks waits for it", async () => {
    const { watch, sender, flooded, recordLater } = await setUp();
    await sender.send(flooded.inbox_address as Hex, MANY);
    await watch();
    await chain.finalize();
    const rereadOf = async () =>
      (await db.root.selectFrom("chain_cursor").select("reread_number").executeTakeFirstOrThrow()).reread_number;
    while ((await watch()).isBehind);
    equal(await countOf(flooded), 0);
    const [row] = await openRows();
    equal((await rereadOf()) < (row?.block_number ?? 0n), true);
    await recordLater();
    while ((await watch()).isBehind);
    deepEqual([await countOf(flooded), (await rereadOf()) >= (row?.block_number ?? 0n)], [MANY, true]);
  });

  async function lastTransaction(): Promise<Hex> {
    const block = await chain.client.getBlock();
    return block.transactions[0] ?? "0x";
  }
});
