import { sql } from "kysely";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";
import { addMs } from "../../kernel/clock.ts";
import type { MemorySlot } from "../../kernel/processMemory.ts";
import type { World } from "../../world.ts";
import { selectCountedEarly } from "../checks.ts";

// The check `deposit-counted-by-its-rule`, for the deposits that counted lately. It judges each by what it stored when it
// counted, and by a statement that shares nothing with the decision, so that a fault of the decision shows.

/** Deposits per call. */
const PAGE_MAX = 500;
/** A transaction that counted with an earlier time has committed by then. */
const SETTLED_MS = 60_000;
/** What counted so long before a process started is checked again. */
const LOOKBACK_MS = 3_600_000;

type Position = { countedAt: Date; id: string };
const POSITION: MemorySlot<{ after: Position | undefined }> = { create: () => ({ after: undefined }) };

/**
 * Checks the next page of deposits that counted up to a minute ago, and raises an alarm for those that counted too
 * early. Returns whether more wait.
 */
export async function checkCountedRule(world: Pick<World, "db" | "clock" | "log" | "memory">): Promise<boolean> {
  const position = world.memory.get(POSITION);
  const upTo = addMs(world.clock.now(), -SETTLED_MS);
  const { countedAt, id } = position.after ?? { countedAt: addMs(upTo, -LOOKBACK_MS), id: "" };
  const page = sql`
    select * from deposit where status = 'counted' and (counted_at, id) > (${countedAt}::timestamptz, ${id})
      and counted_at <= ${upTo} order by counted_at, id limit ${PAGE_MAX}`;
  const { rows: early } = await sql<{ deposit: string; intent: string; chain: string }>`/* named: counted_early */
    ${selectCountedEarly(page)}`.execute(world.db.root);
  for (const { deposit, intent, chain } of early)
    raiseAlarm(
      world.log,
      { alarm: "deposit_counted_early", chain, intent, deposit },
      "a deposit counted before it was final by its rule",
    );
  const { rows } = await sql<Position & { count: bigint }>`/* named: counted_page */
    select counted_at as "countedAt", id, count(*) over () as count from (${page}) as page
    order by counted_at desc, id desc limit 1`.execute(world.db.root);
  const [last] = rows;
  // After the clock has stepped back, nothing is after the former position for a while.
  position.after = last ?? (countedAt > upTo ? undefined : position.after);
  return last?.count === BigInt(PAGE_MAX);
}
