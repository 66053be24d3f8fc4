import { cpus } from "node:os";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { runLoops } from "../../src/loops/runLoops.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { sized } from "./sized.ts";

// Measures from a bridge's complete attestation to the block of the landing, with all loops running and a block of the
// settle chain every two seconds. The service completes at a moment that moves through the time of a block.

const CROSSINGS = sized(10, 1);
const BLOCK_S = 2;
const BLOCKS_MAX = 2;
const UNITS = 20_000_000n;
const GIVE_UP_MS = 60_000;
const POLL_MS = 5;
/** The finality of the chains of a bridged road. */
const FINALITY_MS = 900_000;
/** Every part of a block's time comes about, in another order than that of time. */
const PHASE_STEP = 7;

type Landing = { blocks: number; rowMs: number };
type Chains = { home: TestChain; away: TestChain };

export async function benchBridge(): Promise<void> {
  console.log(
    `attestation complete → landed, ${CROSSINGS} crossings of each age, a block every ${BLOCK_S} s, ${cpus().length} cores, Node ${process.version}`,
  );
  const road = await openBridgedRoad({ chains: 2 });
  const [home, away] = road.chains;
  if (home === undefined || away === undefined) throw new Error("the road has two chains");
  await home.client.setIntervalMining({ interval: BLOCK_S });
  await home.client.setAutomine(false);
  const ending = new AbortController();
  const loops = runLoops(road.world, ending.signal);
  for (const [name, ageMs] of [
    ["seconds after the burn", 0],
    ["when its block becomes final", FINALITY_MS],
  ] as const) {
    const landings: Landing[] = [];
    for (let index = 0; index < CROSSINGS; index += 1)
      landings.push(await measureLanding(road, { home, away }, { phase: (index * PHASE_STEP) % CROSSINGS, ageMs }));
    print(name, landings);
  }
  ending.abort();
  await loops;
  await road.close();
}

function print(name: string, landings: readonly Landing[]): void {
  const most = Math.max(...landings.map(({ blocks }) => blocks));
  if (most > BLOCKS_MAX) process.exitCode = 1;
  const count = (blocks: number) => `${landings.filter((each) => each.blocks === blocks).length} × ${blocks}`;
  const counts = Array.from({ length: most }, (_, index) => count(index + 1));
  const times = landings.map(({ rowMs }) => rowMs).toSorted((one, other) => one - other);
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? Number.NaN).toFixed(0);
  console.log(`${name.padEnd(30)} blocks ${counts.join(", ")}   until the row p50 ${at(0.5)} ms, max ${at(1)} ms`);
}

/** `phase`: tenths of a block's time from the block's start until the attestation is complete. */
async function measureLanding(
  road: BridgedRoad,
  { home, away }: Chains,
  { phase, ageMs }: { phase: number; ageMs: number },
): Promise<Landing> {
  const { settings } = road.attestation;
  settings.delayReason = "pending";
  const intent = await road.create(home);
  await road.pay(away, intent, UNITS);
  await waitFor(async () => (await crossingReason(road, intent)) === "pending");
  road.advance(ageMs);
  const head = await home.client.getBlockNumber({ cacheTime: 0 });
  await waitFor(async () => (await home.client.getBlockNumber({ cacheTime: 0 })) > head + 1n);
  await delay((BLOCK_S * 1_000 * phase) / CROSSINGS);
  const completeIn = await home.client.getBlockNumber({ cacheTime: 0 });
  settings.delayReason = undefined;
  const from = performance.now();
  const blockNumber = await landingBlock(road, intent);
  return { blocks: Number(blockNumber - completeIn), rowMs: performance.now() - from };
}

async function crossingReason(road: BridgedRoad, intent: IntentRow): Promise<string | null | undefined> {
  const query = road.db.root.selectFrom("crossing").select("reason").where("intent_id", "=", intent.id);
  return (await query.executeTakeFirst())?.reason;
}

async function landingBlock(road: BridgedRoad, intent: IntentRow): Promise<bigint> {
  let found: bigint | null | undefined;
  await waitFor(async () => {
    found = (await road.settlements(intent)).find(({ status }) => status === "landed")?.landed_block_number;
    return found !== undefined && found !== null;
  });
  return found ?? 0n;
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  for (const until = performance.now() + GIVE_UP_MS; performance.now() < until;) {
    if (await condition()) return;
    await delay(POLL_MS);
  }
  throw new Error("the condition does not hold");
}
