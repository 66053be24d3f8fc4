import { sql } from "kysely";
import type { Caip2 } from "../kernel/caip.ts";
import { array } from "../db/parameters.ts";
import { addMs } from "../kernel/clock.ts";
import { IS_DOUBTFUL_REMAINDER } from "../deposit/holding/remainderReads.ts";
import type { World } from "../world.ts";
import { isOpenSettlement } from "../deposit/openSettlement.ts";

/** Finality of the slowest known chain takes about half an hour. */
const DEPOSIT_LATE_MS = 2 * 3_600_000;
/** After the time that the chain's settlements may wait. */
const PAYOUT_LATE_MS = 15 * 60_000;
/** Held deposits stay until somebody acts, so more of a chain are not counted. */
const HELD_COUNTED_MAX = 10_000;

/** Open rows of one kind, state and chain. */
export type OpenRows = {
  chain: Caip2;
  kind: "deposit" | "due" | "settlement";
  /** Of a deposit or settlement; of `due`, inboxes with counted money that no settlement covers yet: `due`. */
  status: string;
  /** Of held deposits, at most HELD_COUNTED_MAX a chain. */
  count: number;
  /** Of held deposits, the oldest of those that are counted; so is the intent. */
  oldest: Date;
  intent: string;
  /** Those that wait too long, with the lowest of their intents. */
  late: { count: number; intent: string } | undefined;
};

type Row = Omit<OpenRows, "count" | "late"> & { count: bigint; lateCount: bigint; lateIntent: string | null };

/** What waits on the road. Each part reads a partial index of open rows, so its cost does not grow with history. */
export async function readOpenRows({ db, clock, config }: Pick<World, "db" | "clock" | "config">): Promise<OpenRows[]> {
  const now = clock.now();
  const depositBefore = sql`${addMs(now, -DEPOSIT_LATE_MS)}::timestamptz`;
  const chains = array(
    config.chains.map(({ caip2 }) => caip2),
    "text",
  );
  const befores = array(
    config.chains.map(({ settleAfterMs }) => addMs(now, -(settleAfterMs + PAYOUT_LATE_MS)).toISOString()),
    "timestamptz",
  );
  const { rows } = await sql<Row>`
    with limits (chain, before) as (select * from unnest(${chains}, ${befores}))
    select chain, 'deposit' as kind, status, count(*) as count, min(seen_at) as oldest, min(intent_id) as intent,
        count(*) filter (where seen_at < ${depositBefore}) as "lateCount",
        min(intent_id) filter (where seen_at < ${depositBefore}) as "lateIntent"
      from deposit where status in ('seen', 'confirmed') group by chain, status
    union all
    select limits.chain, 'deposit', 'held', count(*), min(seen_at), min(intent_id), 0, null
      from limits, lateral (select seen_at, intent_id from deposit
        where status = 'held' and chain = limits.chain limit ${HELD_COUNTED_MAX}) as held
      group by limits.chain
    union all
    select holding.chain, 'due', 'due', count(*), min(due_from), min(intent_id), count(*) filter (where due_from < before),
        min(intent_id) filter (where due_from < before)
      from holding left join limits on limits.chain = holding.chain where due_from is not null and not ${IS_DOUBTFUL_REMAINDER} group by holding.chain
    union all
    select settlement.chain, 'settlement', status, count(*), min(created_at), min(intent_id),
        count(*) filter (where created_at < before and status <> 'held'),
        min(intent_id) filter (where created_at < before and status <> 'held')
      from settlement left join limits on limits.chain = settlement.chain
      where ${isOpenSettlement("settlement")} group by settlement.chain, status`.execute(db.root);
  return rows.map(({ count, lateCount, lateIntent, ...row }) => ({
    ...row,
    count: Number(count),
    late: lateIntent === null ? undefined : { count: Number(lateCount), intent: lateIntent },
  }));
}

export function countRows(
  rows: readonly OpenRows[],
  { chain, kind, status }: Pick<OpenRows, "chain" | "kind" | "status">,
): number {
  return rows.find((row) => row.chain === chain && row.kind === kind && row.status === status)?.count ?? 0;
}
