import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { assignSequences, hasNewEvents, type SequencedEvent } from "./store.ts";

/** The most events numbered in one transaction. */
const BATCH_MAX = 1_000;
/** The key of the sequencer's advisory lock. The value is arbitrary; no other lock of this service uses it. */
const SEQUENCER_LOCK = 7_402_001n;

/**
 * Assigns committed events the next sequences of their accounts. It runs after commit and in one process at a time, so
 * that a reader who has seen a sequence has seen all lower ones. A sequence assigned at insertion could become visible
 * after its successor. Without new events it is one short read.
 */
export async function assignEventSequences(db: Db): Promise<{ isDone: boolean; events: SequencedEvent[] }> {
  if (!(await hasNewEvents(db))) return { isDone: true, events: [] };
  const events = await db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(${SEQUENCER_LOCK}::bigint)`.execute(tx);
    return assignSequences(tx, BATCH_MAX);
  });
  return { isDone: events.length < BATCH_MAX, events };
}
