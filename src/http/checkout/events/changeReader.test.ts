import assert from "node:assert/strict";
import { test } from "node:test";
import { copyPostgresDatabase, createPostgresDatabase } from "../../../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../../../test/support/intents.ts";
import { recordMovements, setHead } from "../../../../test/support/movements.ts";
import { stationWorld } from "../../../../test/support/stationWorld.ts";
import { openDatabase, type Db } from "../../../db/database.ts";
import { processMovements } from "../../../deposit/processMovements.ts";
import type { IntentRow } from "../../../intent/store.ts";
import { ChangeReader } from "./changeReader.ts";

const open = (url: string) => openDatabase({ url, allowUnsafeFsync: true, poolSizeMax: 2 });
let txCount = 0;

/** A deposit above the minimum writes an event; a smaller transfer writes none. */
async function pay(db: Db, intent: IntentRow, amountUnits = 1_000_000n): Promise<void> {
  const chainTx = `0x${(txCount += 1).toString(16).padStart(64, "0")}`;
  await recordMovements(db, intent, [{ chainTx, amountUnits, block: 5n }]);
  await processMovements(stationWorld(db), TEST_CHAIN);
}

test("after a failover that lost commits, changes are found by positions that were used before", async () => {
  const primary = await createPostgresDatabase();
  const seeded = await open(primary.url);
  await setHead(seeded, TEST_CHAIN, { number: 10n });
  const intent = await insertIntent(seeded, { minimum_units: 1_000n });
  await pay(seeded, intent);
  await seeded.close();
  const standby = await copyPostgresDatabase(primary);
  const [before, after] = [await open(primary.url), await open(standby.url)];
  let current = before;
  const reader = new ChangeReader({
    ...before,
    get root() {
      return current.root;
    },
  });
  assert.equal((await reader.read())?.size, 0);
  for (let lost = 0; lost < 5; lost += 1) await pay(before, intent);
  assert.deepEqual([...((await reader.read()) ?? [])], [intent.id]);

  current = after;
  await pay(after, intent);
  assert.equal(await reader.read(), undefined, "any page may have changed");
  assert.equal((await reader.read())?.size, 0);
  await pay(after, intent);
  assert.deepEqual([...((await reader.read()) ?? [])], [intent.id]);
  await pay(after, intent, 7n);
  assert.deepEqual([...((await reader.read()) ?? [])], [intent.id], "without an event");

  await Promise.all([before.close(), after.close()]);
  await standby.drop();
  await primary.drop();
});

test("transfers without events that a failover lost begin anew as well", async () => {
  const primary = await createPostgresDatabase();
  const seeded = await open(primary.url);
  await setHead(seeded, TEST_CHAIN, { number: 10n });
  const intent = await insertIntent(seeded, { minimum_units: 1_000n });
  await pay(seeded, intent, 1n);
  await seeded.close();
  const standby = await copyPostgresDatabase(primary);
  const [before, after] = [await open(primary.url), await open(standby.url)];
  let current = before;
  const reader = new ChangeReader({
    ...before,
    get root() {
      return current.root;
    },
  });
  await reader.read();
  for (let lost = 0; lost < 5; lost += 1) await pay(before, intent, 1n);
  await reader.read();
  current = after;
  await pay(after, intent, 1n);
  assert.equal(await reader.read(), undefined);
  await pay(after, intent, 1n);
  assert.deepEqual([...((await reader.read()) ?? [])], [intent.id]);
  await Promise.all([before.close(), after.close()]);
  await standby.drop();
  await primary.drop();
});
