import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { countMoney } from "../../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabases } from "../../../test/support/database.ts";
import { insertAccount, insertIntent, TEST_CHAIN } from "../../../test/support/intents.ts";
import { recordMovements, setHead } from "../../../test/support/movements.ts";
import { chainStoringNoBytes } from "../../../test/support/storingChain.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import type { Chain } from "../../chain/chain.ts";
import type { Db } from "../../db/database.ts";
import { processMovements } from "../../deposit/processMovements.ts";
import { markRewind } from "../../event/epoch/watchEpoch.ts";
import type { IntentRow } from "../../intent/store.ts";
import { addMs, DAY_MS, systemClock } from "../../kernel/clock.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";
import { observeSettlements } from "../observe/observeSettlements.ts";
import { planSettlements } from "../planSettlements.ts";
import { submitSettlements } from "../submitSettlements.ts";

// A restored database holds money that has left its inbox: nothing is sent before the chain is read up to the head that
// it had.

const START = new Date("2026-11-01T13:00:00Z");
let txCount = 0;
const newChainTx = () => `0xdd${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases)
  describe(`settlements after lost commits on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    let account: string;
    let now = START;
    before(async () => {
      db = await openTestDatabase(kind);
      account = await insertAccount(db);
    });
    beforeEach(async () => {
      now = START;
      world = { ...stationWorld(db), clock: { ...systemClock, now: () => now }, memory: new ProcessMemory() };
      await setHead(db, TEST_CHAIN, { number: 300n });
    });
    after(() => db.close());

    async function plan(): Promise<IntentRow> {
      const intent = await insertIntent(db, { account_id: account });
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 7n, block: 200n }]);
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
      return intent;
    }

    /** Providers at these heads; undefined for one that does not answer. */
    function chainAt(...heads: (bigint | undefined)[]): Chain {
      const runAll = async () =>
        heads.map((number) => (number === undefined ? { error: new Error("away") } : { answer: { number } }));
      return {
        ...chainStoringNoBytes(async (items) => items.map(() => undefined)),
        providers: { runAll },
      } as unknown as Chain;
    }
    const submit = (chain: Chain) => submitSettlements(world, { chain });
    const statusOf = async ({ id }: IntentRow) =>
      (await db.root.selectFrom("settlement").select("status").where("intent_id", "=", id).executeTakeFirst())?.status;

    test("they wait until the chain is read up to the head of the time, and then never again", async () => {
      const intent = await plan();
      await markRewind(world);
      const chain = chainAt(305n, 310n, undefined);
      assert.equal(await submit(chain), 0);
      await setHead(db, TEST_CHAIN, { number: 309n });
      assert.equal(await submit(chain), 0);
      await setHead(db, TEST_CHAIN, { number: 310n });
      assert.equal(await submit(chainAt(400n)), 1);
      assert.equal(await statusOf(intent), "submitted");
      await plan();
      assert.equal(await submit(chainAt(500n)), 1);
    });

    test("one whose money has left is never sent", async () => {
      const intent = await plan();
      await markRewind(world);
      const chain = chainAt(300n);
      await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 7n, block: 250n, direction: "out" }]);
      assert.equal(await submit(chain), 0);
      while (!(await observeSettlements(world, TEST_CHAIN)).isDone);
      assert.equal(await submit(chain), 0);
      assert.equal(await statusOf(intent), "landed");
    });

    test("a second loss is read up to its own head", async () => {
      await plan();
      await markRewind(world);
      await markRewind(world);
      assert.equal(await submit(chainAt(301n)), 0);
      assert.equal(await submit(chainAt(302n)), 0);
      await setHead(db, TEST_CHAIN, { number: 301n });
      assert.equal(await submit(chainAt(302n)), 1);
    });

    test("after a day without progress they are sent all the same", async () => {
      await plan();
      await markRewind(world);
      assert.equal(await submit(chainAt(1_000n)), 0);
      now = addMs(START, DAY_MS);
      assert.equal(await submit(chainAt(1_000n)), 1);
    });
  });
