import { sql, type RawBuilder } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { WINDOW_MS } from "./limiter.ts";

// A call that was made counts until 60 seconds later. A lease is calls that a process may make within five seconds from now, so they
// count until 65 seconds from now, until the process says when it made which, or hands them back.

/** How long a process may make the calls that it took. A shorter time takes more statements, a longer one keeps more from the others. */
export const LEASE_MS = 5_000;

/** Part of the calls that are left which a process takes at once: a half when it was the last to take, else a quarter. */
const SHARE_ALONE = 2;
const SHARE_AMONG_OTHERS = 4;

/** What became of an earlier lease. It is told once, whatever comes of the telling: then no call is freed twice. */
export type Settled = {
  /** Until when the lease's calls count, as the database said. */
  untilMs: bigint;
  /** How many calls it still has. */
  count: number;
  /** How long ago each of those that were made was made. */
  agesMs: readonly number[];
};

export type Taking = { key: string; limit: number; holder: string; settled: Settled | undefined };

export type Lease = {
  /** 0 when there was nothing left. */
  granted: number;
  untilMs: bigint;
  /** Calls that nobody has taken. */
  remaining: number;
  /** Until the first of the calls before this lease counts no more; null where there are none. */
  resetMs: number | null;
};

/** Takes some of the calls that `limit` leaves, in one statement that all processes run one after the other for a key. */
export async function takeLease(db: Db, nowMs: RawBuilder<bigint>, taking: Taking): Promise<Lease | undefined> {
  const { key, limit, holder, settled } = taking;
  const untilMs = sql`(${nowMs} + ${sql.lit(LEASE_MS + WINDOW_MS)})`;
  const first = sql`${Math.ceil(limit / SHARE_AMONG_OTHERS)}::int`;
  const { rows } = await sql<Lease>`/* named: take_lease */
    insert into rate_log as log (key, counted_until_ms, granted, granted_until_ms, holder)
    values (${key}, array_fill(${untilMs}, array[${first}]), ${first}, ${untilMs}, ${holder})
    on conflict (key) do update set (counted_until_ms, granted, granted_until_ms, holder) = (
      with counted as (
        select until_ms from (${placed}) as placed
        where until_ms > ${nowMs}
          and not (until_ms = ${settled?.untilMs ?? 0n}::bigint and place <= ${settled?.count ?? 0}::bigint)
        union all
        select made.until_ms
        from (
          select ${nowMs} - age_ms + ${sql.lit(WINDOW_MS)} as until_ms
          from unnest(${array(settled?.agesMs ?? [], "int8")}) as age (age_ms)
        ) as made where made.until_ms > ${nowMs}
      ), room as (
        select greatest(0, ${limit}::int - count(*)) as calls from counted
      ), granting as (
        select ceil(calls / case when log.holder = ${holder} then ${sql.lit(SHARE_ALONE)}.0 else ${sql.lit(SHARE_AMONG_OTHERS)}.0 end)::int as calls
        from room
      )
      select (select array_agg(until_ms) from counted) || array_fill(${untilMs}, array[granting.calls]),
        granting.calls, ${untilMs}, ${holder}
      from granting
    )
    returning granted, granted_until_ms as "untilMs", ${limit}::int - cardinality(counted_until_ms) as remaining,
      (select min(until_ms) - ${nowMs} from unnest(counted_until_ms) as other (until_ms)
        where until_ms <> granted_until_ms or granted = 0)::int as "resetMs"`.execute(db.read);
  return rows[0];
}

/** Calls that nobody will make, of a lease each. */
export type HandBack = { key: string; untilMs: bigint; count: number };

/** Gives back calls of several keys at once. */
export async function handBack(db: Db, unused: readonly HandBack[]): Promise<void> {
  const column = <T>(read: (back: HandBack) => T) => unused.map(read);
  const keys = column(({ key }) => key);
  // Locked in one order, so that two processes which give back the same keys wait for each other instead of deadlocking.
  await sql`
    with locked as (
      select key from rate_log where key = any (${array(keys, "text")}) order by key for update
    )
    update rate_log as log set counted_until_ms = coalesce((
      select array_agg(until_ms) from (${placed}) as placed
      where not (until_ms = back.until_ms and place <= back.count)
    ), '{}')
    from locked join unnest(
      ${array(keys, "text")},
      ${array(
        column(({ untilMs }) => untilMs),
        "int8",
      )},
      ${array(
        column(({ count }) => count),
        "int4",
      )}
    ) as back (key, until_ms, count) on back.key = locked.key
    where log.key = locked.key`.execute(db.read);
}

/** Removes up to `limit` keys of which no call counts any more, and returns how many there were. */
export async function deleteUncounted(db: Db, nowMs: RawBuilder<bigint>, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from rate_log where key in (
      select key from rate_log where granted_until_ms < ${nowMs} limit ${limit} for update skip locked
    ) returning 1`.execute(db.read);
  return rows.length;
}

/** The calls of a row, those that count until the same moment numbered: of equal ones it does not matter which goes. */
const placed = sql`
  select until_ms, row_number() over (partition by until_ms) as place from unnest(log.counted_until_ms) as call (until_ms)`;
