import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import type { Db } from "../db/database.ts";
import { systemEntropy } from "../kernel/entropy.ts";
import type { NewEvent } from "./event.ts";
import { appendEvents } from "./store.ts";
import { listEvents } from "./listEvents.ts";
import { assignEventSequences } from "./assignEventSequences.ts";

const at = new Date("2026-11-01T12:00:00Z");
const event = (accountId: string, intentId: string): NewEvent => ({
  type: "deposit.seen",
  accountId,
  intentId,
  merchantReference: null,
  livemode: false,
  object: { object: "deposit" },
  previous: null,
});

for (const kind of databases) {
  describe(`events on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    const append = (events: NewEvent[]) =>
      db.transaction((tx) => appendEvents(tx, { entropy: systemEntropy }, { events, at }));
    const sequences = async (accountId: string) => {
      const events = await listEvents(db, { accountId, afterSequence: 0n, limit: 100 });
      return events.map(({ sequence, intentId }) => `${sequence} ${intentId}`);
    };

    test("D32 each account numbers its events from 1 without gaps, in the order of each intent's changes", async () => {
      await append([event("acct_a", "one"), event("acct_b", "two")]);
      await assignEventSequences(db);
      await append([event("acct_a", "three"), event("acct_a", "four")]);
      assert.deepEqual(await sequences("acct_a"), ["1 one"]);
      await assignEventSequences(db);
      assert.deepEqual(await sequences("acct_a"), ["1 one", "2 three", "3 four"]);
      assert.deepEqual(await sequences("acct_b"), ["1 two"]);
    });

    test("numbered events come back oldest first", async () => {
      const happened = Array.from({ length: 200 }, (_, index) => event(`acct_e${index % 3}`, String(index)));
      for (const each of happened) await append([each]);
      const { events } = await assignEventSequences(db);
      assert.deepEqual(
        events.map(({ intent }) => intent),
        happened.map(({ intentId }) => intentId),
      );
    });

    test("D32 an event of a failed transaction leaves no row and no gap", async () => {
      const failing = db.transaction(async (tx) => {
        await appendEvents(tx, { entropy: systemEntropy }, { events: [event("acct_c", "lost")], at });
        throw new Error("the change did not happen");
      });
      await assert.rejects(failing);
      await append([event("acct_c", "kept")]);
      await assignEventSequences(db);
      assert.deepEqual(await sequences("acct_c"), ["1 kept"]);
    });

    test("D32 concurrent sequencers number each event once", async () => {
      await append(Array.from({ length: 50 }, (_, index) => event("acct_d", String(index))));
      await Promise.all([assignEventSequences(db), assignEventSequences(db), assignEventSequences(db)]);
      assert.deepEqual(
        await sequences("acct_d"),
        Array.from({ length: 50 }, (_, index) => `${index + 1} ${index}`),
      );
    });
  });
}

test("D32 an event that commits late gets a sequence after those already read", async () => {
  const db = await openTestDatabase("postgres");
  const slow = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    await appendEvents(tx, { entropy: systemEntropy }, { events: [event("acct", "late")], at });
    started.resolve();
    await slow.promise;
  });
  await started.promise;
  await db.transaction((tx) => appendEvents(tx, { entropy: systemEntropy }, { events: [event("acct", "early")], at }));
  await assignEventSequences(db);
  const first = await listEvents(db, { accountId: "acct", afterSequence: 0n, limit: 10 });
  slow.resolve();
  await late;
  await assignEventSequences(db);
  const after = await listEvents(db, {
    accountId: "acct",
    afterSequence: BigInt(first.at(-1)?.sequence ?? 0),
    limit: 10,
  });
  await db.close();
  assert.deepEqual([first.map((each) => each.intentId), after.map((each) => each.intentId)], [["early"], ["late"]]);
});
