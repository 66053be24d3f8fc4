import { sql } from "kysely";
import type { Db } from "../db/database.ts";

/** Events stamped in one transaction. */
const BATCH_MAX = 1_000;
/** Any number that no other advisory lock of this service uses. */
const SEQUENCER_LOCK = 7_402_001;

/**
 * Gives committed events the sequence of their account. It happens after commit and in one place at a time, so that a reader
 * who has seen a sequence has seen all before it: a number drawn at insertion may become visible after its successor.
 * Returns how many were stamped; fewer than the bound means that none is left.
 */
export async function stampEvents(db: Db): Promise<{ stamped: number; isDone: boolean }> {
  const stamped = await db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(${SEQUENCER_LOCK}::bigint)`.execute(tx);
    const result = await sql<{ position: bigint }>`
      with batch as (
        select position, account_id, row_number() over (partition by account_id order by position) as place
        from (select position, account_id from event where sequence is null order by position limit ${BATCH_MAX}) as unstamped
      ), counter as (
        insert into event_counter (account_id, last_sequence)
        select account_id, count(*) from batch group by account_id
        on conflict (account_id) do update set last_sequence = event_counter.last_sequence + excluded.last_sequence
        returning account_id, last_sequence
      ), batch_size as (select account_id, count(*) as size from batch group by account_id)
      update event set sequence = counter.last_sequence - batch_size.size + batch.place
      from batch join counter using (account_id) join batch_size using (account_id)
      where event.position = batch.position
      returning event.position`.execute(tx);
    return result.rows.length;
  });
  return { stamped, isDone: stamped < BATCH_MAX };
}
