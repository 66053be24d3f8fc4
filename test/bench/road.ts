import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { runLoops } from "../../src/loops/runLoops.ts";
import { databases } from "../support/database.ts";
import { openRoad, type Road } from "../support/road.ts";
import { sized } from "./sized.ts";

// Measures the time from a deposit's block to its counted row, on a local chain with one
// confirmation and all loops running. Without pushed heads the polling interval is the floor.

const DEPOSITS = sized(40, 2);
const POLL_MS = 200;
const GIVE_UP_MS = 10_000;

export async function benchRoad(): Promise<void> {
  console.log(
    `mined → counted, ${DEPOSITS} deposits, polled every ${POLL_MS} ms, ${cpus().length} cores, Node ${process.version}`,
  );
  for (const database of databases) {
    const road = await openRoad({ database, chain: { pollMs: POLL_MS } });
    const ending = new AbortController();
    const loops = runLoops(road.world, ending.signal);
    const waits: number[] = [];
    for (let index = 0; index < DEPOSITS; index += 1) waits.push(await waitForCount(road, index));
    ending.abort();
    await loops;
    await road.close();
    waits.sort((one, other) => one - other);
    const at = (share: number) => (waits[Math.floor((waits.length - 1) * share)] ?? Number.NaN).toFixed(0);
    const beyond = (waits.at(-1) ?? Number.NaN) - POLL_MS;
    console.log(
      `${database.padEnd(9)} p50 ${at(0.5)} ms   p90 ${at(0.9)} ms   max ${at(1)} ms   slowest beyond one interval ${beyond.toFixed(0)} ms`,
    );
  }
}

async function waitForCount(road: Road, index: number): Promise<number> {
  const intent = await road.create();
  // Payments spread over the polling interval, so that the figure includes realistic waits for the next poll.
  await delay((index * 37) % POLL_MS);
  await road.pay(intent, 1_000_000n);
  const minedAt = performance.now();
  while (performance.now() - minedAt < GIVE_UP_MS) {
    const { counted_units } = await road.intent(intent);
    if (counted_units > 0n) return performance.now() - minedAt;
    await delay(2);
  }
  throw new Error(`the deposit into ${intent.inbox_address} was not counted within ${GIVE_UP_MS} ms`);
}
