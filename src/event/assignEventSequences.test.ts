import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readFeedOf } from "../../test/support/events.ts";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { insertAccount } from "../../test/support/intents.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { systemEntropy } from "../kernel/entropy.ts";
import type { NewEvent } from "./event.ts";
import { showEventData } from "./showEvent.ts";
import { appendEvents } from "./store.ts";
import { assignEventSequences } from "./assignEventSequences.ts";

const at = new Date("2026-11-01T12:00:00Z");
/** Stands for a change: `label` names it. */
const event = (accountId: string, label: string): NewEvent => ({
  type: "account.updated",
  accountId,
  intentNumber: null,
  livemode: false,
  object: { object: "change", label },
  previous: null,
});
const labelOf = (data: { object: unknown }) => String(Reflect.get(data.object as object, "label"));

for (const kind of thoroughDatabases) {
  describe(`events on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    const append = (events: NewEvent[]) =>
      db.transaction((tx) => appendEvents(tx, { entropy: systemEntropy }, { events, at }));
    const sequences = async (accountId: string) => {
      const events = await readFeedOf(db, { accountId });
      return events.map(({ sequence, data }) => `${sequence} ${labelOf(data)}`);
    };

    test("D32 each account numbers its events from 1 without gaps, in the order of each intent's changes", async () => {
      const [a, b] = [await insertAccount(db), await insertAccount(db)];
      await append([event(a, "one"), event(b, "two")]);
      await assignEventSequences(stationWorld(db));
      await append([event(a, "three"), event(a, "four")]);
      assert.deepEqual(await sequences(a), ["1 one"]);
      await assignEventSequences(stationWorld(db));
      assert.deepEqual(await sequences(a), ["1 one", "2 three", "3 four"]);
      assert.deepEqual(await sequences(b), ["1 two"]);
    });

    test("numbered events come back oldest first", async () => {
      const accounts = [await insertAccount(db), await insertAccount(db), await insertAccount(db)];
      const happened = Array.from({ length: 200 }, (_, index) => event(accounts[index % 3] ?? "", String(index)));
      for (const each of happened) await append([each]);
      const { events } = await assignEventSequences(stationWorld(db));
      assert.deepEqual(
        events.map((each) => labelOf(showEventData(each))),
        happened.map(labelOf),
      );
    });

    test("D32 an event of a failed transaction leaves no row and no gap", async () => {
      const account = await insertAccount(db);
      const failing = db.transaction(async (tx) => {
        await appendEvents(tx, { entropy: systemEntropy }, { events: [event(account, "lost")], at });
        throw new Error("the change did not happen");
      });
      await assert.rejects(failing);
      await append([event(account, "kept")]);
      await assignEventSequences(stationWorld(db));
      assert.deepEqual(await sequences(account), ["1 kept"]);
    });

    test("D32 concurrent sequencers number each event once", async () => {
      const account = await insertAccount(db);
      await append(Array.from({ length: 50 }, (_, index) => event(account, String(index))));
      await Promise.all([
        assignEventSequences(stationWorld(db)),
        assignEventSequences(stationWorld(db)),
        assignEventSequences(stationWorld(db)),
      ]);
      assert.deepEqual(
        await sequences(account),
        Array.from({ length: 50 }, (_, index) => `${index + 1} ${index}`),
      );
    });
  });
}

test("D32 an event that commits late gets a sequence after those already read", async () => {
  const db = await openTestDatabase("postgres");
  const account = await insertAccount(db);
  const slow = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    await appendEvents(tx, { entropy: systemEntropy }, { events: [event(account, "late")], at });
    started.resolve();
    await slow.promise;
  });
  await started.promise;
  await db.transaction((tx) => appendEvents(tx, { entropy: systemEntropy }, { events: [event(account, "early")], at }));
  await assignEventSequences(stationWorld(db));
  const first = await readFeedOf(db, { accountId: account });
  slow.resolve();
  await late;
  await assignEventSequences(stationWorld(db));
  const after = await readFeedOf(db, { accountId: account, after: first.at(-1)?.sequence ?? 0 });
  await db.close();
  const labels = [first, after].map((page) => page.map(({ data }) => labelOf(data)));
  assert.deepEqual(labels, [["early"], ["late"]]);
});
