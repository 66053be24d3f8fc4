import { CompiledQuery, sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../../kernel/clock.ts";
import { WINDOW_MS } from "./rateLimiter.ts";

// A call counts for 60 seconds. A lease is a number of permits that one process may use within five seconds. Each
// permit therefore counts for 65 seconds, unless the process reports the time of its use or releases it. Permits that
// would count for longer are from before the database's clock stepped back, and count no more.

/**
 * How long a process may use its permits. A shorter time costs more statements; a longer one withholds more permits
 * from others.
 */
export const LEASE_MS = 5_000;

/** The part of the remaining permits in one lease: half when this process leased last, else a quarter. */
const LEASE_DIVISOR_ALONE = 2;
const LEASE_DIVISOR_CONTENDED = 4;

/** The use of an earlier lease. It is sent once, even if the request fails, so that no permit is freed twice. */
export type LeaseReport = {
  /** The time until which the lease's permits count, from the database. */
  untilMs: bigint;
  /** The number of permits that still count for the lease. */
  permits: number;
  /** The age of each used permit, in milliseconds. */
  callAgesMs: readonly number[];
};

export type LeaseRequest = {
  key: string;
  limit: number;
  holder: string;
  report: LeaseReport | undefined;
  /** The first lease of a new key; a quarter of the limit by default. Each later lease may be twice as large. */
  initialPermits: number | undefined;
};

export type Lease = {
  /** The number of permits; 0 when none were left. */
  granted: number;
  untilMs: bigint;
  /** Permits that no process has leased. */
  remaining: number;
  /** Milliseconds until the oldest call before this lease stops counting; null without such a call. */
  resetMs: number | null;
};

/** Leases some of a limit's remaining permits. The statement locks the key, so that processes take turns. */
export type RequestLease = (db: Db, request: LeaseRequest) => Promise<Lease | undefined>;

/** `nowMs` is SQL for the milliseconds of a clock that all processes share. The statement's text is built once. */
export function createLeaseRequester(nowMs: string): RequestLease {
  // On conflict, `excluded` is the row that would have been inserted; it carries the current time.
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
          and until_ms <= excluded.granted_until_ms + ${CLOCK_DIFFERENCE_MS_MAX}
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

/** Unused permits of one lease. */
export type UnusedPermits = { key: string; untilMs: bigint; count: number };

/** Releases permits of several keys in one statement. */
export async function releasePermits(db: Db, unused: readonly UnusedPermits[]): Promise<void> {
  const column = <T>(read: (permits: UnusedPermits) => T) => unused.map(read);
  const keys = column(({ key }) => key);
  // Locks the keys in one order, so that two processes that release the same keys wait instead of deadlocking.
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

/** Removes up to `limit` keys without a counting call, and returns their number. */
export async function purgeExpiredKeys(db: Db, nowMs: string, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from rate_log where key in (
      select key from rate_log where granted_until_ms < ${sql.raw(nowMs)} limit ${limit} for update skip locked
    ) returning 1`.execute(db.root);
  return rows.length;
}

/** A row's permits, with permits of equal time numbered, so that exactly `count` of them can be removed. */
const numberedPermits = sql`
  select until_ms, row_number() over (partition by until_ms) as place from unnest(log.counted_until_ms) as call (until_ms)`;
