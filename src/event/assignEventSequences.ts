import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { assignSequences } from "./store.ts";

/** Events stamped in one transaction. */
const BATCH_MAX = 1_000;
/** Any number that no other advisory lock of this service uses. */
const SEQUENCER_LOCK = 7_402_001n;

/**
 * Gives committed events the sequence of their account. It happens after commit and in one place at a time, so that a reader
 * who has seen a sequence has seen all before it: a number drawn at insertion may become visible after its successor.
 */
export async function assignEventSequences(db: Db): Promise<{ isDone: boolean }> {
  const assigned = await db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(${SEQUENCER_LOCK}::bigint)`.execute(tx);
    return assignSequences(tx, BATCH_MAX);
  });
  return { isDone: assigned < BATCH_MAX };
}
