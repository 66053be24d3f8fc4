import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";
import { startOwnServer } from "../support/database.ts";
import { postgresVersion } from "../support/postgres.ts";
import { heading, median, percentile, tabulate } from "./detect/statistics.ts";
import { openBenchService, type BenchIntent, type BenchService } from "./service/benchService.ts";
import { payBehindDust } from "./service/dustAtOnce.ts";
import { openDustSender } from "../support/dustSender.ts";

// Measures how a flood of one-unit transfers to one merchant's inbox delays the payments of another merchant on the
// same chain. Each transfer is below the inbox's minimum. The service runs in its own process, with all loops.

const TRANSFERS = 60_000;
const TRANSFERS_A_BLOCK = 500;
const AT_ONCE = 25_000;
const ROUNDS = 5;
const BLOCK_MS = 1_000;
const PAYMENTS = 15;
const PAYMENT_PAUSE_MS = 1_000;
const WARM_UP_PAYMENTS = 3;
const CHAIN_ID = 900_011;
const CATCH_UP_MS_MAX = 600_000;
/** The ratio of the flood's times to the quiet ones that is acceptable. */
const RATIO_GOAL = 2;

const USAGE = `Usage: npm run bench -- dust [--transfers=${TRANSFERS}] [--per-block=${TRANSFERS_A_BLOCK}] [--at-once=${AT_ONCE} [--rounds=${ROUNDS}]]

  --transfers  one-unit transfers to the flooded inbox, one block a second
  --per-block  transfers in each block
  --at-once    instead: so many transfers in one instant, and a payment directly behind them
  --rounds     of these, each beside a quiet payment`;

type Flood = { transfers: number; transfersABlock: number };
type Phase = { name: string; ms: readonly number[]; residentMb: number };

export async function benchDust(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      transfers: { type: "string", default: String(TRANSFERS) },
      "per-block": { type: "string", default: String(TRANSFERS_A_BLOCK) },
      "at-once": { type: "string" },
      rounds: { type: "string", default: String(ROUNDS) },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  console.log(heading({ anvil: "1.7.1", PostgreSQL: (await postgresVersion()).replace(/\D*/, "") }));
  const server = await startOwnServer({ isDurable: true });
  try {
    const service = await openBenchService(server, { name: "dust", chainId: CHAIN_ID });
    const atOnce = values["at-once"];
    if (atOnce !== undefined)
      await measureAtOnce(service, { transfers: Number(atOnce), rounds: Number(values.rounds) });
    else await measure(service, { transfers: Number(values.transfers), transfersABlock: Number(values["per-block"]) });
    await service.close();
  } finally {
    await server.remove();
  }
}

async function measureAtOnce(service: BenchService, flood: { transfers: number; rounds: number }): Promise<void> {
  await service.start();
  await payMany(service, WARM_UP_PAYMENTS);
  const { quiet, behind, after, recordedMs } = await payBehindDust(service, flood);
  const residentMb = service.residentMb();
  console.log(
    `${flood.transfers} transfers in one instant; recorded ${(median(recordedMs) / 1_000).toFixed(1)} s later`,
  );
  printPhases([
    { name: "quiet", ms: quiet, residentMb },
    { name: "directly behind the dust", ms: behind, residentMb },
    { name: "while it is recorded", ms: after, residentMb },
  ]);
}

async function measure(service: BenchService, flood: Flood): Promise<void> {
  await service.start();
  const flooded = await service.create();
  const sender = await openDustSender(service.chain);
  await payMany(service, WARM_UP_PAYMENTS);
  const startMb = service.residentMb();
  const quiet = { name: "quiet", ms: await payMany(service, PAYMENTS), residentMb: startMb };
  const before = await countWrites(service.db);
  const ending = new AbortController();
  const paying = payUntil(service, ending.signal);
  let middleMb = Number.NaN;
  const blocks = Math.ceil(flood.transfers / flood.transfersABlock);
  for (let block = 0; block < blocks; block += 1) {
    const dueAt = performance.now() + BLOCK_MS;
    await sender.send(flooded.inbox, flood.transfersABlock);
    if (block === Math.floor(blocks / 2)) middleMb = service.residentMb();
    await delay(Math.max(0, dueAt - performance.now()));
  }
  const floodedAt = performance.now();
  await waitForDeposits(service.db, flooded, blocks * flood.transfersABlock);
  const lateMs = performance.now() - floodedAt;
  ending.abort();
  const during = { name: "during the flood", ms: await paying, residentMb: middleMb };
  const writes = subtract(await countWrites(service.db), before);
  const after = { name: "after it", ms: await payMany(service, PAYMENTS), residentMb: service.residentMb() };
  const transfers = blocks * flood.transfersABlock;
  console.log(
    `${transfers} transfers in ${blocks} blocks, one a second; recorded ${(lateMs / 1_000).toFixed(1)} s after the last`,
  );
  printPhases([quiet, during, after]);
  printWrites(writes, transfers);
}

/** Pays one new intent after the other. Returns the milliseconds from block to landing. */
async function payMany(service: BenchService, count: number): Promise<number[]> {
  const ms: number[] = [];
  for (let payment = 0; payment < count; payment += 1) ms.push(await service.settle(await service.create()));
  return ms;
}

async function payUntil(service: BenchService, signal: AbortSignal): Promise<number[]> {
  const ms: number[] = [];
  while (!signal.aborted) {
    ms.push(...(await payMany(service, 1)));
    await delay(PAYMENT_PAUSE_MS);
  }
  return ms;
}

async function waitForDeposits(db: Db, { id }: BenchIntent, count: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < CATCH_UP_MS_MAX; waitedMs += 100) {
    const { received_units } = await db.root
      .selectFrom("intent")
      .select("received_units")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (received_units >= BigInt(count)) return;
    await delay(100);
  }
  throw new Error("the dust was not recorded");
}

/** Rows inserted, updated and deleted since the database's creation, by table. */
async function countWrites(db: Db): Promise<Map<string, number>> {
  // PostgreSQL publishes its counters with a delay of at most a second.
  await delay(1_500);
  const { rows } = await sql<{ table: string; writes: bigint }>`
    select relname as table, n_tup_ins + n_tup_upd + n_tup_del as writes from pg_stat_user_tables`.execute(db.root);
  return new Map(rows.map(({ table, writes }) => [table, Number(writes)]));
}

function subtract(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): [string, number][] {
  return [...now].map(([table, writes]): [string, number] => [table, writes - (before.get(table) ?? 0)]);
}

function printPhases(phases: readonly Phase[]): void {
  const quietMs = median(phases[0]?.ms ?? []);
  const rows = phases.map(({ name, ms, residentMb }) => [
    name,
    String(ms.length),
    median(ms).toFixed(0),
    percentile(ms, 0.9).toFixed(0),
    Math.max(...ms).toFixed(0),
    (median(ms) / quietMs).toFixed(2),
    residentMb.toFixed(0),
  ]);
  console.log(`goal: at most ${RATIO_GOAL} times the quiet time`);
  console.log(
    tabulate([["mined to landed", "payments", "p50 ms", "p90 ms", "max ms", "× quiet", "resident MB"], ...rows]),
  );
}

function printWrites(writes: readonly [string, number][], transfers: number): void {
  const rows = writes
    .map(([table, count]): [string, number] => [table, count / transfers])
    .filter(([, count]) => count >= 0.01)
    .toSorted(([, one], [, other]) => other - one)
    .map(([table, count]) => [table, count.toFixed(2)]);
  console.log(`\n${tabulate([["rows written by table", "a transfer"], ...rows])}`);
}
