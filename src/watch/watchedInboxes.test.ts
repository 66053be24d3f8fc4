import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, randomAddress } from "../../test/support/intents.ts";
import { systemClock } from "../kernel/clock.ts";
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

async function openPostgres() {
  const db = await openTestDatabase("postgres");
  return { db, [Symbol.asyncDispose]: () => db.close() };
}
