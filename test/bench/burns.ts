import { cpus } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import type { IntentRow } from "../../src/intent/store.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { watchNow } from "../support/watchNow.ts";
import { median } from "./detect/statistics.ts";

// Measures how long a crossing of the first queue takes while the other two are full, beside a quiet road, and within
// how many turns of an hour the second queue is received. Every loop runs by hand, so the times have no pauses.

const DEAR_UNITS = 20_000_000n;
const CHEAP_UNITS = 20_000n;
const CROSSINGS = 10;
const HOUR_MS = 3_600_000;
const HOURS_MAX = 24;
const TICKS_A_TURN = 6;
const RATIO_MAX = 2;

type Chains = { home: TestChain; away: TestChain };

export async function benchBurns(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { second: { type: "string", default: "1000" }, third: { type: "string", default: "180000" } },
  });
  const [second, third] = [Number(values.second), Number(values.third)];
  console.log(
    `${second} crossings of the second queue, ${third} of the third; ${cpus().length} cores, Node ${process.version}`,
  );
  const road = await openBridgedRoad({ chains: 2, nativeUsd: "3000" });
  const [home, away] = road.chains;
  if (home === undefined || away === undefined) throw new Error("the road has two chains");
  const chains = { home, away };
  const quietMs = await landMany(road, chains);
  await fillThirdQueue(road, chains, third);
  const cheap = await fillSecondQueue(road, chains, second);
  const floodedMs = await landMany(road, chains);
  const ratio = median(floodedMs) / median(quietMs);
  const landedMs = (times: readonly number[]) =>
    `p50 ${median(times).toFixed(0)} ms, max ${Math.max(...times).toFixed(0)} ms`;
  console.log(`first queue, quiet   ${landedMs(quietMs)}`);
  console.log(`first queue, flooded ${landedMs(floodedMs)}: ${ratio.toFixed(2)} × quiet, goal at most ${RATIO_MAX}`);
  const hours = await receiveSecondQueue(road, cheap);
  console.log(`second queue: all landed after ${hours} turns of an hour, goal at most ${HOURS_MAX}`);
  if (ratio > RATIO_MAX || hours > HOURS_MAX) process.exitCode = 1;
  // Their burns are on no chain, so the audits of closing the road would find them.
  await sql`delete from crossing where intent_id = 'pi_flood'`.execute(road.db.root);
  await road.close();
}

/** Milliseconds from each payment until its settlement has landed. */
async function landMany(road: BridgedRoad, { home, away }: Chains): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < CROSSINGS; index += 1) {
    const intent = await road.create(home);
    await road.pay(away, intent, DEAR_UNITS);
    const from = performance.now();
    await road.untilLanded(intent);
    times.push(performance.now() - from);
  }
  return times;
}

/** Half of them are proven. The chains do not know them: nothing but the rows matters for the others. */
async function fillThirdQueue({ db }: BridgedRoad, { home, away }: Chains, count: number): Promise<void> {
  await db.transaction(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into crossing (movement_id, intent_id, chain, chain_tx, proof_tx, token, units, bridge, settle_chain, status, queue, message,
        attestation, mint, retry_at, reason, status_since, created_at, updated_at)
      select -n, 'pi_flood', ${away.caip2}, '0xflood' || n / 900, '0xflood' || n / 900, ${away.usdc.address}, 2, 'cctp-v2/0', ${home.caip2},
        case when n % 2 = 0 then 'burned' else 'attested' end, 3, '0x', '0x', case when n % 2 = 1 then 'cctp-v2/1/flood' || n end,
        at + interval '50 minutes', 'below_minimum', at, at, at
      from generate_series(1, ${count}::int) as n, (select now() as at) as times`.execute(tx);
  });
  await sql`analyze crossing`.execute(db.root);
}

async function fillSecondQueue(road: BridgedRoad, { home, away }: Chains, count: number): Promise<IntentRow[]> {
  const intents: IntentRow[] = [];
  for (let index = 0; index < count; index += 1) {
    const intent = await road.create(home);
    await road.pay(away, intent, CHEAP_UNITS + BigInt(index));
    intents.push(intent);
  }
  while ((await countIn(road, ["attested", "landed"])) < count) {
    await tickCaughtUp(road);
    for (const chain of road.chains) await chain.mine(1);
    road.advance(2_000);
  }
  await tickCaughtUp(road);
  return intents;
}

/** As the service's loop, reads every block before anything else: a thousand burns are as many blocks. */
async function tickCaughtUp(road: BridgedRoad): Promise<void> {
  for (const chain of road.world.chains.values()) while ((await watchNow(road.world, chain)).isBehind);
  await road.tick();
}

/** Cheap crossings in these states. */
async function countIn({ db }: BridgedRoad, statuses: readonly ("attested" | "landed")[]): Promise<number> {
  const rows = await db.root
    .selectFrom("crossing")
    .select("movement_id")
    .where("status", "in", statuses)
    .where("units", ">=", CHEAP_UNITS)
    .where("units", "<", DEAR_UNITS)
    .execute();
  return rows.length;
}

async function receiveSecondQueue(road: BridgedRoad, cheap: readonly IntentRow[]): Promise<number> {
  for (let hours = 0; hours <= HOURS_MAX; hours += 1) {
    if ((await countIn(road, ["landed"])) >= cheap.length) return hours;
    road.advance(HOUR_MS);
    for (let ticks = 0; ticks < TICKS_A_TURN; ticks += 1) {
      await tickCaughtUp(road);
      for (const chain of road.chains) await chain.mine(1);
    }
  }
  return HOURS_MAX + 1;
}
