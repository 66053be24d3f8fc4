import type { FastifyInstance } from "fastify";
import type { CoinSums, SettlementDays } from "@tributary/dashboard/merchant/settlementDays";
import { settlementsPage } from "@tributary/dashboard/merchant/settlements";
import { findAsset } from "../../catalog/catalog.ts";
import { addMs, parseInstant } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import { formatUnits } from "../../kernel/units.ts";
import { listDays, oldestChangeAt, type SettlementDay } from "../../settlement/days/settlementDayStore.ts";
import { toDay } from "../../settlement/days/settlementDays.ts";
import type { World } from "../../world.ts";
import type { HttpContext } from "../httpContext.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 92;
/** Rows of a period: one for each day, chain and token on which something landed. */
const ROWS_MAX = 5_000;
/** Changes younger than this are added in a moment. */
const FRESH_MS = 60_000;

/** Adds the page of what landed on each day. */
export function addSettlementPages(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  server.get(
    `${DASHBOARD_PATH}/settlements`,
    pageHandler(context, async ({ session, view, query }) => {
      const period = readPeriod(query, world.clock.now());
      return settlementsPage(view, await readSettlementDays(world, { accountId: session.accountId, ...period }));
    }),
  );
}

type Period = { from: string; to: string; coin: string };

/** Throws not_found for a period that is none, or longer than a page shows. */
function readPeriod(query: PageRequest["query"], now: Date): Period {
  const to = query("to") === "" ? toDay(addMs(now, DAY_MS)) : query("to");
  const end = parseDay(to);
  const from = query("from") === "" ? toDay(addMs(end, -DAYS_DEFAULT * DAY_MS)) : query("from");
  const days = (end.getTime() - parseDay(from).getTime()) / DAY_MS;
  if (days < 1 || days > DAYS_MAX) throw new Fault("not_found");
  return { from, to, coin: query("coin") };
}

function parseDay(text: string): Date {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? parseInstant(`${text}T00:00:00Z`) : undefined;
  if (at === undefined) throw new Fault("not_found");
  return at;
}

type DayWorld = Pick<World, "db" | "catalog" | "clock">;

async function readSettlementDays(
  world: DayWorld,
  { accountId, from, to, coin: wanted }: Period & { accountId: string },
): Promise<SettlementDays> {
  const { db, clock } = world;
  const [rows, changedAt] = await Promise.all([
    listDays(db, { accountId, from, to, limit: ROWS_MAX }),
    oldestChangeAt(db),
  ]);
  const named = rows
    .filter(({ landed_count: count }) => count !== 0n)
    .map((row) => ({ ...row, ...nameOf(world, row) }));
  const coins = [...new Set(named.map(({ symbol }) => symbol))].toSorted();
  const coin = coins.find((each) => each === wanted) ?? coins[0] ?? "";
  const ofCoin = named.filter(({ symbol }) => symbol === coin);
  const days = daysOf(from, to);
  const chains = [...Map.groupBy(ofCoin, ({ chainName }) => chainName)]
    .map(([name, own]) => ({ name, own, total: addUp(own) }))
    .toSorted((one, other) => (one.total.net < other.total.net ? 1 : -1));
  const netOf = (own: readonly NamedDay[], day: string) => addUp(own.filter((row) => row.day === day));
  return {
    from,
    to,
    today: toDay(clock.now()),
    coin,
    coins,
    chains: chains.map(({ name, own, total }) => ({
      name,
      sums: toSums(total),
      nets: days.map((day) => toDecimal(netOf(own, day).net)),
    })),
    days: days.map((day) => {
      const { net, count } = netOf(ofCoin, day);
      return { day, net: toDecimal(net), count: count.toString() };
    }),
    total: toSums(addUp(ofCoin)),
    incompleteSince:
      changedAt !== undefined && clock.now().getTime() - changedAt.getTime() > FRESH_MS
        ? changedAt.toISOString()
        : null,
  };
}

type NamedDay = SettlementDay & { symbol: string; chainName: string; scale: bigint };

/** Tokens of one coin may have different decimals on different chains, so sums have those of the finest. */
const DECIMALS = 18;

function nameOf({ catalog }: Pick<World, "catalog">, { chain, token }: SettlementDay) {
  const asset = findAsset(catalog, chain, token);
  return {
    symbol: asset?.symbol ?? token,
    chainName: catalog.knownChains.find(({ caip2 }) => caip2 === chain)?.name ?? chain,
    scale: 10n ** BigInt(DECIMALS - (asset?.decimals ?? 0)),
  };
}

type Sums = { gross: bigint; routeCost: bigint; fee: bigint; net: bigint; count: bigint };

function addUp(rows: readonly NamedDay[]): Sums {
  const sum = (unitsOf: (row: NamedDay) => bigint) => rows.reduce((total, row) => total + unitsOf(row), 0n);
  return {
    gross: sum(({ gross_units: units, scale }) => units * scale),
    routeCost: sum(({ route_cost_units: units, scale }) => units * scale),
    fee: sum(({ fee_units: units, scale }) => units * scale),
    net: sum(({ net_units: units, scale }) => units * scale),
    count: sum(({ landed_count: count }) => count),
  };
}

function toSums({ gross, routeCost, fee, net, count }: Sums): CoinSums {
  return {
    gross: toDecimal(gross),
    routeCost: toDecimal(routeCost),
    fee: toDecimal(fee),
    net: toDecimal(net),
    count: count.toString(),
  };
}

function toDecimal(units: bigint): string {
  return formatUnits(units, DECIMALS);
}

function daysOf(from: string, to: string): string[] {
  const first = parseDay(from);
  const count = (parseDay(to).getTime() - first.getTime()) / DAY_MS;
  return Array.from({ length: count }, (_day, index) => toDay(addMs(first, index * DAY_MS)));
}
