import { sql } from "kysely";
import type { OpsChain, OpsStation, OpsStationName } from "@tributary/dashboard/ops/opsState";
import type { ActiveAlarm } from "../../alarm/alarm.ts";
import { EVENT_TYPES, type EventType } from "../../event/event.ts";
import { countOpenCrossings } from "../../health/openCrossings.ts";
import { readOpenRows, type OpenRows } from "../../health/openRows.ts";
import type { AlarmName } from "../../kernel/alarm/alarmTable.ts";
import { addMs } from "../../kernel/clock.ts";
import type { World } from "../../world.ts";

type RoadWorld = Pick<World, "db" | "clock" | "config">;

const HOUR_MS = 3_600_000;
/**
 * The newest events and transfers that rates are counted from. Where they reach back less than an hour, the rates say
 * so.
 */
const RATE_ROWS = 2_000;
const COUNT_MAX = 1_000;

/** What passed within a period, by type of event, and transfers by chain. */
export type Rates = {
  ratesMs: number;
  events: ReadonlyMap<EventType, number>;
  allEvents: number;
  transfers: ReadonlyMap<string, number>;
};

type RateRow = { kind: "event" | "transfer" | "since"; name: string; count: bigint };

/** Reads a bounded number of the newest rows, whatever the history. */
export async function readRates({ db, clock }: RoadWorld): Promise<Rates> {
  const now = clock.now();
  const since = sql`${addMs(now, -HOUR_MS)}::timestamptz`;
  const { rows } = await sql<RateRow & { since: Date }>`
    with events as (select type, created_at from event order by position desc limit ${RATE_ROWS}),
      transfers as (select chain, direction, seen_at from movement order by id desc limit ${RATE_ROWS}),
      period as (select greatest(${since},
        (select case when count(*) = ${RATE_ROWS} then min(created_at) else ${since} end from events),
        (select case when count(*) = ${RATE_ROWS} then min(seen_at) else ${since} end from transfers)) as since)
    select 'event' as kind, type::text as name, count(*) as count, min(period.since) as since
      from events, period where created_at > period.since group by type
    union all
    select 'transfer', chain, count(*), min(period.since) from transfers, period
      where direction = 'in' and seen_at > period.since group by chain
    union all
    select 'since', '', 0, since from period`.execute(db.root);
  const from = rows[0]?.since ?? now;
  const events = rows.filter(({ kind }) => kind === "event");
  const typeOf = new Map(Object.entries(EVENT_TYPES).map(([name, number]) => [String(number), name as EventType]));
  return {
    ratesMs: Math.max(1, now.getTime() - from.getTime()),
    events: new Map(
      events.flatMap(({ name, count }) => {
        const type = typeOf.get(name);
        return type === undefined ? [] : [[type, Number(count)] as const];
      }),
    ),
    allEvents: events.reduce((sum, { count }) => sum + Number(count), 0),
    transfers: new Map(rows.filter(({ kind }) => kind === "transfer").map(({ name, count }) => [name, Number(count)])),
  };
}

export type OpenRoad = {
  rows: readonly OpenRows[];
  crossings: Awaited<ReturnType<typeof countOpenCrossings>>;
  unbound: number;
  opening: number;
  waitingEndpoints: number;
  waitingSince: Date | null;
};

/** What waits on the road. Each part reads a partial index of open rows. */
export async function readOpenRoad(world: RoadWorld): Promise<OpenRoad> {
  const [rows, crossings, waiting] = await Promise.all([
    readOpenRows(world),
    countOpenCrossings(world),
    readWaiting(world),
  ]);
  return { rows, crossings, ...waiting };
}

type Waiting = Pick<OpenRoad, "unbound" | "opening" | "waitingEndpoints" | "waitingSince">;

async function readWaiting({ db, config }: RoadWorld): Promise<Waiting> {
  const { rows } = await sql<Waiting>`
    select
      (select count(*)::int from (select from intent
        where customer_bound_at is null and status = 'active' and ${config.gate !== undefined} limit ${COUNT_MAX}) as each) as unbound,
      (select count(*)::int from (select from primed_account
        where status in ('planned', 'submitted') limit ${COUNT_MAX}) as each) as opening,
      (select count(*)::int from (select from webhook_endpoint
        where due_since is not null and queue = 'healthy' limit ${COUNT_MAX}) as each) as "waitingEndpoints",
      (select min(due_since) from webhook_endpoint where due_since is not null and queue = 'healthy') as "waitingSince"`.execute(
    db.root,
  );
  return rows[0] ?? { unbound: 0, opening: 0, waitingEndpoints: 0, waitingSince: null };
}

export type RoadFacts = {
  open: OpenRoad;
  rates: Rates;
  chains: readonly OpsChain[];
  alarms: readonly ActiveAlarm[];
  now: Date;
};

/** Alarms that show a station as slow or as stuck. */
const SLOW: Readonly<Partial<Record<OpsStationName, readonly AlarmName[]>>> = {
  watch: ["scan_behind", "chain_stalled", "provider_behind"],
  bridge: ["crossing_late", "crossing_not_received", "crossing_postponed", "bridge_unavailable"],
  webhook: ["feed_behind", "webhook_failing"],
};
const STUCK: Readonly<Partial<Record<OpsStationName, readonly AlarmName[]>>> = {
  watch: ["chain_silent", "chain_not_scanned"],
  settlement: ["gas_empty", "gas_price_above_ceiling", "nonce_gap"],
};

/** The stations with what waits at each. Pure. */
export function buildRoad({ open, rates, chains, alarms, now }: RoadFacts): OpsStation[] {
  const raised = new Set(alarms.map(({ alarm }) => alarm));
  const station = (name: OpsStationName, found: Partial<OpsStation> & { isLate?: boolean }): OpsStation => {
    const { isLate = false, waiting = 0, oldestMs = null, passed = 0, parts = {} } = found;
    const isStuck = STUCK[name]?.some((alarm) => raised.has(alarm)) === true;
    const isSlow = isLate || SLOW[name]?.some((alarm) => raised.has(alarm)) === true;
    return { name, waiting, oldestMs, passed, parts, flow: isStuck ? "stuck" : isSlow ? "slow" : "flowing" };
  };
  const ageOf = (dates: readonly Date[]) =>
    dates.length === 0 ? null : Math.max(0, now.getTime() - Math.min(...dates.map((date) => date.getTime())));
  const pick = (kind: OpenRows["kind"], ...statuses: string[]) => {
    const rows = open.rows.filter((row) => row.kind === kind && statuses.includes(row.status) && row.count > 0);
    const count = (status: string) => rows.reduce((sum, row) => (row.status === status ? sum + row.count : sum), 0);
    return {
      waiting: rows.reduce((sum, row) => sum + row.count, 0),
      oldestMs: ageOf(rows.map(({ oldest }) => oldest)),
      isLate: rows.some(({ late }) => late !== undefined),
      parts: Object.fromEntries(statuses.map((status) => [status, count(status)])),
    };
  };
  const due = pick("due", "due");
  const planned = pick("settlement", "planned", "held");
  const behind = chains.flatMap(({ behindBlocks }) => (behindBlocks === null ? [] : [Number(behindBlocks)]));
  const crossed = (status: string) =>
    open.crossings.reduce((sum, row) => (row.status === status ? sum + row.count : sum), 0);
  return [
    station("intent", { waiting: open.unbound, passed: eventsOf(rates, "payment_intent.created") }),
    station("inbox", { waiting: open.opening, passed: eventsOf(rates, "source_inbox.issued") }),
    station("watch", {
      waiting: behind.length === 0 ? null : Math.max(...behind),
      passed: [...rates.transfers.values()].reduce((sum, count) => sum + count, 0),
    }),
    station("deposit", { ...pick("deposit", "seen", "confirmed"), passed: eventsOf(rates, "deposit.counted") }),
    station("settlement", {
      waiting: due.waiting + planned.waiting,
      oldestMs: maxOf(due.oldestMs, planned.oldestMs),
      isLate: due.isLate || planned.isLate,
      parts: { ...due.parts, ...planned.parts },
      passed: eventsOf(rates, "settlement.submitted"),
    }),
    station("bridge", {
      waiting: crossed("burned") + crossed("attested"),
      oldestMs: ageOf(open.crossings.map(({ oldest }) => oldest)),
      parts: { burned: crossed("burned"), attested: crossed("attested") },
      passed: eventsOf(rates, "settlement.bridging"),
    }),
    station("payout", { ...pick("settlement", "submitted"), parts: {}, passed: eventsOf(rates, "settlement.landed") }),
    station("webhook", {
      waiting: open.waitingEndpoints,
      oldestMs: open.waitingSince === null ? null : ageOf([open.waitingSince]),
      passed: rates.allEvents,
    }),
  ];
}

function eventsOf({ events }: Rates, type: EventType): number {
  return events.get(type) ?? 0;
}

function maxOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}
