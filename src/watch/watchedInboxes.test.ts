import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, randomAddress } from "../../test/support/intents.ts";
import { systemClock } from "../kernel/clock.ts";
import { AddressSet } from "./addressSet.ts";
import { WatchedInboxes } from "./watchedInboxes.ts";

test("an inbox whose number was taken first and committed last is found", async () => {
  await using held = await openPostgres();
  const { db } = held;
  const inboxes = new WatchedInboxes(systemClock);
  const first = await insertIntent(db);
  const committed = Promise.withResolvers<void>();
  const inserted = Promise.withResolvers<string>();
  const slow = db.transaction(async (tx) => {
    const { seq: _, ...columns } = first;
    const row = {
      ...columns,
      id: `${first.id}x`,
      inbox_address: randomAddress(),
      widget_token_hash: new Uint8Array(32),
    };
    await tx.insertInto("intent").values(row).execute();
    inserted.resolve(row.inbox_address);
    await committed.promise;
  });
  const late = await inserted.promise;
  const quick = await insertIntent(db);
  await inboxes.refresh(db);
  ok(inboxes.has(quick.inbox_address) && !inboxes.has(late));
  committed.resolve();
  await slow;
  await inboxes.refresh(db);
  ok(inboxes.has(late));
  equal(inboxes.size, 3);
});

test("whoever asks while another reads gets a reading that began after it asked", async () => {
  await using held = await openPostgres();
  const { db } = held;
  const inboxes = new WatchedInboxes(systemClock);
  const running = inboxes.refresh(db);
  const { inbox_address: inbox } = await insertIntent(db);
  await inboxes.refresh(db);
  ok(inboxes.has(inbox));
  await running;
});

test("a set of addresses holds exactly what was added, however alike the others are", () => {
  const address = fc.stringMatching(/^0x[0-9a-f]{30}00[0f]{8}$/);
  fc.assert(
    fc.property(fc.uniqueArray(address, { maxLength: 2_000, minLength: 200 }), (addresses) => {
      const set = new AddressSet();
      const added = addresses.slice(0, addresses.length / 2);
      for (const one of [...added, ...added]) set.add(one);
      equal(set.size, added.length);
      const known = new Set(added);
      for (const one of addresses) equal(set.has(one), known.has(one));
    }),
    { numRuns: 20 },
  );
});

test("a set of addresses grows without forgetting", () => {
  const set = new AddressSet();
  const addresses = Array.from({ length: 5_000 }, randomAddress);
  for (const one of addresses) set.add(one);
  equal(
    addresses.every((one) => set.has(one)),
    true,
  );
  equal(set.has(randomAddress()), false);
});

async function openPostgres() {
  const db = await openTestDatabase("postgres");
  return { db, [Symbol.asyncDispose]: () => db.close() };
}
