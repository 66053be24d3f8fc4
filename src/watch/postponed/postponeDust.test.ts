import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import type { TestChain } from "../../../test/support/chain.ts";
import { openDustSender } from "../../../test/support/dustSender.ts";
import { insertIntent } from "../../../test/support/intents.ts";
import { setUpWatchTests, startWatcher, type NodeOverride } from "../../../test/support/watcher.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import { addMs, systemClock } from "../../kernel/clock.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { HINT_TTL_MS } from "../../view/registerView.ts";
import { upsertViewHints } from "../../view/store.ts";
import { scanHintedInboxes } from "../reread/scanHintedInboxes.ts";
import { countUnreadable } from "../unreadable/unreadableStore.ts";
import { recordPostponed } from "../reread/recordPostponed.ts";

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
  const openRows = () => db.root.selectFrom("postponed").select(["block_number", "inboxes"]).execute();

  async function setUp(override: NodeOverride = () => ({})) {
    const { watch, world, chain: watched } = await startWatcher(db, chain, override);
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
    return { world, watched, watch, sender, flooded, paid, recordLater, recordNow };
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

  test("a provider on another branch ends no row, and takes nothing", async () => {
    let isOther = false;
    const other = (hash: string) => `0x${"ee".repeat(4)}${hash.slice(10)}`;
    const { watch, sender, flooded, recordLater } = await setUp((node) => ({
      transfers: async (scope, tokens, parties) => {
        const found = await node.transfers(scope, tokens, parties);
        return isOther ? found.map((each) => ({ ...each, blockHash: other(each.blockHash) })) : found;
      },
      proofs: async (chainTxs) => {
        const proofs = await node.proofs(chainTxs);
        if (!isOther) return proofs;
        return proofs.map(
          (proof) =>
            new Proxy(proof, {
              get: (target, name) =>
                name === "blockHash" ? other(target.blockHash) : Reflect.get<object, PropertyKey>(target, name, target),
            }),
        );
      },
    }));
    await sender.send(flooded.inbox_address as Hex, MANY);
    await watch();
    isOther = true;
    await rejects(recordLater(), /which was not requested/);
    deepEqual([await countOf(flooded), (await openRows()).length], [0, 1]);
    isOther = false;
    await dueAgain();
    await recordLater();
    deepEqual([await countOf(flooded), await openRows()], [MANY, []]);
  });

  test("where no provider reports what is final, dust of a lost block ends too, once it is deep enough", async () => {
    const { watch, sender, flooded, recordLater } = await setUp((node) => ({
      head: async (tag) => {
        if (tag !== "latest") throw new ProviderFailed("unknown_block", "this node knows no such tag");
        return node.head(tag);
      },
    }));
    await chain.mine(3);
    await watch();
    await sender.send(flooded.inbox_address as Hex, MANY);
    await watch();
    await chain.reorg(1);
    await chain.mine(2);
    await watch();
    await recordLater();
    equal((await openRows()).length, 1, "its block may still come back");
    await chain.mine(2_100);
    while ((await watch()).isBehind);
    await dueAgain();
    await recordLater();
    deepEqual([await countOf(flooded), await openRows()], [0, []]);
  });

  test("an open payment page does not record it sooner", async () => {
    const { world, watched, watch, sender, flooded, recordLater } = await setUp();
    await sender.send(flooded.inbox_address as Hex, MANY);
    await watch();
    const expiresAt = addMs(systemClock.now(), HINT_TTL_MS);
    const reference = String(chain.chainId);
    await upsertViewHints(db, [{ intentId: flooded.id, namespace: "eip155", reference, token: usdc, expiresAt }]);
    await scanHintedInboxes(world, watched);
    deepEqual([await countOf(flooded), (await openRows()).length], [0, 1]);
    await recordLater();
    equal(await countOf(flooded), MANY);
  });

  /** As after the claim of a process. */
  const dueAgain = () => db.root.updateTable("postponed").set({ retry_at: systemClock.now() }).execute();

  async function lastTransaction(): Promise<Hex> {
    const block = await chain.client.getBlock();
    return block.transactions[0] ?? "0x";
  }
});
