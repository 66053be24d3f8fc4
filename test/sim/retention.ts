import { purgeExpiredLoop } from "../../src/loops/purgeExpiredLoop.ts";
import { addMs, DAY_MS } from "../../src/kernel/clock.ts";
import type { World } from "../../src/world.ts";
import type { Violation } from "./invariants.ts";
import type { SimDatabase } from "./simDatabase.ts";

// Retention: after the longest one, no row remains that no money depends on, and every other rule still holds.

/** Longer than every default retention. */
const LATER_MS = 100 * DAY_MS;

/** Purges until nothing is left to delete, with a clock that is far ahead. */
export async function purgeLater(world: World, signal: AbortSignal): Promise<void> {
  const clock = { ...world.clock, now: () => addMs(world.clock.now(), LATER_MS) };
  const loop = purgeExpiredLoop({ ...world, clock });
  while (await loop.tick(signal));
}

const REMAINING_SQL = `
  select 'the view hint of ' || intent_id as subject from view_hint
  union all select 'an answer about ' || asked.deposit_id from deposit_agreement asked where asked.state = 'agreed'
  union all select distinct 'the bytes of transaction ' || attempt.outgoing_id from outgoing_attempt attempt
    join outgoing_transaction outgoing on outgoing.id = attempt.outgoing_id join chain_cursor on chain_cursor.chain = outgoing.chain
    where outgoing.closed_at is not null and coalesce(outgoing.mined_block_number, 0) <= chain_cursor.reread_number
      and not exists (select from settlement where settlement.outgoing_id = outgoing.id and status not in ('landed', 'failed'))
  limit 5`;

/** Rows that outlived their retention. */
export function findOutlived(database: SimDatabase): Violation[] {
  return database.rows(REMAINING_SQL).map(({ subject }) => ({
    rule: "a row outlives its retention",
    subject: String(subject),
  }));
}
