import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";
import { readFeed } from "../../src/event/listEvents.ts";
import { appendEvents } from "../../src/event/store.ts";
import type { World } from "../../src/world.ts";
import { shownColumns, showEvent, type EventRecord, type ShownEventRow } from "../../src/event/showEvent.ts";

/** The events of an intent in the order of their positions, those without a sequence included. */
export async function listEventsOf(
  db: Db,
  intentId: string,
): Promise<(EventRecord & { type: string; isSequenced: boolean })[]> {
  const { rows } = await sql<ShownEventRow>`
    select ${sql.raw(shownColumns("event"))} from event join intent on intent.seq = event.intent_number
    where intent.id = ${intentId} order by event.position`.execute(db.root);
  return rows.map((row) => ({ ...showEvent(row), isSequenced: row.sequence !== null }));
}

/** The types of the events of an intent, in the same order. */
export async function listEventTypesOf(db: Db, intentId: string): Promise<string[]> {
  return (await listEventsOf(db, intentId)).map(({ type }) => type);
}

/** An account's feed behind a sequence. */
export async function readFeedOf(
  db: Db,
  { accountId, after = 0, intentId }: { accountId: string; after?: number; intentId?: string },
): Promise<EventRecord[]> {
  const query = { accountId, after: BigInt(after), limit: 1_000, types: undefined, intentId };
  return (await readFeed(db, query)).events;
}

/** Appends events of an account itself, which stand for any others. */
export async function appendAccountEvents(
  { db, entropy, clock }: Pick<World, "db" | "entropy" | "clock">,
  accountId: string,
  count: number,
): Promise<void> {
  const event = { type: "account.updated", accountId, intentNumber: null, livemode: false, previous: null } as const;
  const events = Array.from({ length: count }, (_, index) => ({ ...event, object: { object: "change", index } }));
  await db.transaction((tx) => appendEvents(tx, { entropy }, { events, at: clock.now() }));
}
