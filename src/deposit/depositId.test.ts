import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../test/support/movements.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { insertDeployment, type IntentRow } from "../intent/store.ts";
import { listDeposits } from "./listDeposits.ts";
import { processMovements } from "./processMovements.ts";

const CHAIN_TX = `0x${"d4b".padStart(64, "0")}`;
const MINIMUM = 10_000n;

/** A database as a backup holds it: with the installation's identity and the intent, and without the payment. */
type Restored = { db: Db; world: StationWorld; intent: IntentRow };

for (const kind of thoroughDatabases) {
  describe(`ids of deposits on ${kind}`, () => {
    const opened: Db[] = [];
    let first: Restored;
    let second: Restored;
    let lax: Restored;
    let foreign: Restored;

    async function restore(deploymentId: Uint8Array, like?: IntentRow, minimum = MINIMUM): Promise<Restored> {
      const db = await openTestDatabase(kind);
      opened.push(db);
      await insertDeployment(db, { deploymentId, signingSecret: new Uint8Array(32) });
      const inbox = like === undefined ? {} : { id: like.id, inbox_address: like.inbox_address };
      const intent = await insertIntent(db, { minimum_units: minimum, ...inbox });
      await setHead(db, TEST_CHAIN, { number: 10n });
      return { db, world: stationWorld(db), intent };
    }
    before(async () => {
      const deploymentId = new Uint8Array(32).fill(1);
      first = await restore(deploymentId);
      second = await restore(deploymentId, first.intent);
      lax = await restore(deploymentId, first.intent, 0n);
      foreign = await restore(new Uint8Array(32).fill(2), first.intent);
    });
    after(() => Promise.all(opened.map((db) => db.close())));

    async function find({ db, world, intent }: Restored, transfers: readonly Partial<MovementInput>[]) {
      const movements = transfers.map((each) => ({ chainTx: CHAIN_TX, amountUnits: MINIMUM, block: 5n, ...each }));
      await recordMovements(db, intent, movements);
      await processMovements(world, TEST_CHAIN);
      const deposits = await listDeposits(world, { intent, limit: 100 });
      return new Map(deposits.map(({ identity, id }) => [identity, id]));
    }

    test("D4b a transfer found again after a restore has the id of before, in another block and order too", async () => {
      const dust = { position: 2, amountUnits: 7n };
      const ids = await find(first, [{ position: 1 }, dust, { position: 3 }]);
      assert.equal(new Set(ids.values()).size, 3);
      for (const id of ids.values()) assert.match(id, /^dep_[0-9a-hjkmnp-tv-z]{26}$/);
      const again = await find(second, [{ position: 3, block: 6n }, dust, { position: 1 }]);
      assert.deepEqual(Object.fromEntries(again), Object.fromEntries(ids));
    });

    test("D4b dust keeps its id where it is a deposit", async () => {
      const dust = { chainTx: `0x${"d5".padStart(64, "0")}`, position: 9, amountUnits: 7n };
      const asDust = await find(first, [dust]);
      const asDeposit = await find(lax, [dust]);
      assert.equal(asDeposit.get("9"), asDust.get("9"));
    });

    test("D4b the ids of another installation differ", async () => {
      const ids = await find(first, []);
      const others = await find(foreign, [{ position: 1 }]);
      assert.notEqual(others.get("1"), ids.get("1"));
    });
  });
}
