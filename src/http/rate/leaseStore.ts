import { CompiledQuery, sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { WINDOW_MS } from "./rateLimiter.ts";

// A call that was made counts until 60 seconds later. A lease is calls that a process may make within five seconds from now, so they
// count until 65 seconds from now, until the process says when it made which, or hands them back.

/** How long a process may make the calls that it took. A shorter time takes more statements, a longer one keeps more from the others. */
export const LEASE_MS = 5_000;

/** Part of the calls that are left which a process takes at once: a half when it was the last to take, else a quarter. */
const LEASE_DIVISOR_ALONE = 2;
const LEASE_DIVISOR_CONTENDED = 4;

/** What became of an earlier lease. It is told once, whatever comes of the telling: then no call is freed twice. */
export type LeaseReport = {
  /** Until when the lease's calls count, as the database said. */
  untilMs: bigint;
  /** How many calls it still has. */
  permits: number;
  /** How long ago each of those that were made was made. */
  callAgesMs: readonly number[];
};

export type LeaseRequest = {
  key: string;
  limit: number;
  holder: string;
  report: LeaseReport | undefined;
  /** Calls that are taken of a key that is new; a quarter of them when left out. Each time after that twice as many as before may be. */
  initialPermits: number | undefined;
};

export type Lease = {
  /** 0 when there was nothing left. */
  granted: number;
  untilMs: bigint;
  /** Calls that nobody has taken. */
  remaining: number;
  /** Until the first of the calls before this lease counts no more; null where there are none. */
  resetMs: number | null;
};

/** Takes some of the calls that a limit leaves, in one statement that all processes run one after the other for a key. */
export type RequestLease = (db: Db, taking: LeaseRequest) => Promise<Lease | undefined>;

/** `nowMs` is SQL for the milliseconds of a clock that all processes share. The text is put together once. */
export function createLeaseRequester(nowMs: string): RequestLease {
  // Where the key is known, `excluded` holds what a new row would have been, and with it the time.
  const text = `/* named: take_lease */
    insert into rate_log as log (key, counted_until_ms, granted, granted_until_ms, holder)
    select $1, array_fill(until_ms, array[$2::int]), $2::int, until_ms, $3
    from (select ${nowMs} + ${LEASE_MS + WINDOW_MS} as until_ms) as lease
    on conflict (key) do update set (counted_until_ms, granted, granted_until_ms, holder) = (
      select counted.until_ms || array_fill(excluded.granted_until_ms, array[granting.calls]),
        granting.calls, excluded.granted_until_ms, excluded.holder
      from (
        select array_agg(until_ms) as until_ms, greatest(0, $4::int - count(*)) as room
        from (
          select unnest(array_remove(log.counted_until_ms, $5::bigint)
            || array_fill($5::bigint, array[greatest(0, cardinality(array_positions(log.counted_until_ms, $5::bigint)) - $6::int)]))
          union all
          select excluded.granted_until_ms - ${LEASE_MS} - age_ms from unnest($7::int8[]) as age (age_ms)
        ) as call (until_ms)
        where until_ms > excluded.granted_until_ms - ${LEASE_MS + WINDOW_MS}
      ) as counted cross join lateral (
        select least(
          greatest($2::int, 2 * log.granted),
          ceil(counted.room / case when log.holder = excluded.holder then ${LEASE_DIVISOR_ALONE}.0 else ${LEASE_DIVISOR_CONTENDED}.0 end)::int
        ) as calls
      ) as granting
    )
    returning granted, granted_until_ms as "untilMs", $4::int - cardinality(counted_until_ms) as remaining,
      (select min(until_ms) - granted_until_ms + ${LEASE_MS + WINDOW_MS} from unnest(counted_until_ms) as other (until_ms)
        where until_ms <> granted_until_ms or granted = 0)::int as "resetMs"`;
  return async (db, { key, limit, holder, report, initialPermits = limit }) => {
    const { untilMs = 0n, permits = 0, callAgesMs = [] } = report ?? {};
    const parameters = [
      key,
      Math.min(initialPermits, Math.ceil(limit / LEASE_DIVISOR_CONTENDED)),
      holder,
      limit,
      untilMs,
      permits,
      callAgesMs,
    ];
    const { rows } = await db.root.executeQuery<Lease>(CompiledQuery.raw(text, parameters));
    return rows[0];
  };
}

/** Calls that nobody will make, of a lease each. */
export type UnusedPermits = { key: string; untilMs: bigint; count: number };

/** Gives back calls of several keys at once. */
export async function releasePermits(db: Db, unused: readonly UnusedPermits[]): Promise<void> {
  const column = <T>(read: (back: UnusedPermits) => T) => unused.map(read);
  const keys = column(({ key }) => key);
  // Locked in one order, so that two processes which give back the same keys wait for each other instead of deadlocking.
  await sql`
    with locked as (
      select key from rate_log where key = any (${array(keys, "text")}) order by key for update
    )
    update rate_log as log set counted_until_ms = coalesce((
      select array_agg(until_ms) from (${numberedPermits}) as placed
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
    where log.key = locked.key`.execute(db.root);
}

/** Removes up to `limit` keys of which no call counts any more, and returns how many there were. */
export async function purgeExpiredKeys(db: Db, nowMs: string, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from rate_log where key in (
      select key from rate_log where granted_until_ms < ${sql.raw(nowMs)} limit ${limit} for update skip locked
    ) returning 1`.execute(db.root);
  return rows.length;
}

/** The calls of a row, those that count until the same moment numbered: of equal ones it does not matter which goes. */
const numberedPermits = sql`
  select until_ms, row_number() over (partition by until_ms) as place from unnest(log.counted_until_ms) as call (until_ms)`;
