import { subscribe } from "node:diagnostics_channel";
import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { pino } from "pino";
import { createEvmChain } from "../../../src/chain/evm/openEvmChain.ts";
import type { Chain } from "../../../src/chain/chain.ts";
import { openEvmNode, type JsonRpcNode } from "../../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../../src/chain/evm/send/gasAccount.ts";
import { openDatabase } from "../../../src/db/database.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { createWake } from "../../../src/kernel/wake.ts";
import type { WatchWorld } from "../../../src/watch/watchWorld.ts";
import { watchChain } from "../../../src/watch/follow/watchChain.ts";
import { stationWorld } from "../../support/stationWorld.ts";
import { cpuUsOf } from "../cpuTime.ts";
import { TOKEN } from "../backfillNode.ts";
import { BLOCKS, LAST_BLOCK, WARM_BLOCK } from "./chain.ts";
import { resetRecordedState } from "./inboxes.ts";

// One catch-up run of the watcher in a fresh process.

export type BackfillJob = {
  database: { url: string } | { directory: string };
  /** Processes whose CPU time is also reported; PGlite has no process of its own. */
  databaseId?: number;
  nodeId?: number;
  rpcUrl: string;
  /** Whether the run also reads all final blocks a second time. */
  rereadsFinal: boolean;
  /** Unmeasured runs before the measured one. */
  warmUpRuns?: number;
  /** The path of the CPU profile. */
  profile?: string;
};

export type BackfillReport = {
  /** The time for the first block, which includes loading the watched set. */
  warmMs: number;
  ms: number;
  /** CPU time during the run; NaN when unavailable. */
  oursUs: number;
  databaseUs: number;
  nodeUs: number;
  /** The bodies of the run's HTTP requests, in job. */
  bodies: string[];
  peakRssBytes: number;
};

const WATCH_CALLS_MAX = 10_000;

process.once("message", (job: BackfillJob) => {
  void run(job).then((report) => process.send?.(report, () => process.disconnect()));
});

async function run(job: BackfillJob): Promise<BackfillReport> {
  const db = await openDatabase(job.database);
  await resetRecordedState(db);
  const log = pino({ level: "silent" });
  const station = stationWorld(db, { tokens: [tokenConfig()] });
  const world: WatchWorld = { ...station, wake: createWake(systemClock), log };
  const warmMs = await warmUp(world, job.rpcUrl);
  for (let time = 0; time < (job.warmUpRuns ?? 0); time += 1) {
    const warmUpNode = openEvmNode({ caip2: "eip155:31337", rpcUrl: job.rpcUrl });
    await watch(world, createChain(warmUpNode), job.rereadsFinal);
    await warmUpNode.close();
    await resetRecordedState(db);
    await warmUp(world, job.rpcUrl);
  }
  const bodies = recordBodies();
  const driver = openEvmNode({ caip2: "eip155:31337", rpcUrl: job.rpcUrl });
  const chain = createChain(driver);
  const stopProfile = job.profile === undefined ? undefined : await startProfile(job.profile);
  const usedBefore = readCpuUsage(job);
  const startedAt = performance.now();
  await watch(world, chain, job.rereadsFinal);
  const ms = performance.now() - startedAt;
  const used = readCpuUsage(job);
  await stopProfile?.();
  const sent = [...bodies];
  const movements = await db.root.selectFrom("movement").select("id").execute();
  if (movements.length !== BLOCKS) throw new Error(`${movements.length} movements were committed, not ${BLOCKS}`);
  await driver.close();
  await db.close();
  const cpuTimes = {
    oursUs: used.oursUs - usedBefore.oursUs,
    databaseUs: used.databaseUs - usedBefore.databaseUs,
    nodeUs: used.nodeUs - usedBefore.nodeUs,
  };
  return { warmMs, ms, ...cpuTimes, bodies: sent, peakRssBytes: process.resourceUsage().maxRSS * 1_024 };
}

/** Starts two blocks before the busy ones, as if the chain ended there, and reads one block. */
async function warmUp(world: WatchWorld, rpcUrl: string): Promise<number> {
  const initialNode = openDriverEndingAt(rpcUrl, WARM_BLOCK - 1);
  await watchChain(world, createChain(initialNode));
  const grownNode = openDriverEndingAt(rpcUrl, WARM_BLOCK);
  const startedAt = performance.now();
  await watchChain(world, createChain(grownNode));
  const ms = performance.now() - startedAt;
  await Promise.all([initialNode.close(), grownNode.close()]);
  return ms;
}

function openDriverEndingAt(rpcUrl: string, headNumber: number): JsonRpcNode {
  const driver = openEvmNode({ caip2: "eip155:31337", rpcUrl });
  driver.head = async (tag) => {
    const number = BigInt(tag === "latest" ? headNumber : 0);
    const block = await driver.block({ number });
    if (block === undefined) throw new Error(`block ${number} is missing`);
    return block;
  };
  return driver;
}

function createChain(driver: JsonRpcNode): Chain {
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  return createEvmChain({ nodes: [driver], gasAccount }, { clock: systemClock, log: pino({ level: "silent" }) });
}

async function watch(world: WatchWorld, chain: Chain, rereadsFinal: boolean): Promise<void> {
  for (let call = 0; call < WATCH_CALLS_MAX; call += 1) {
    const { advancedTo, isBehind } = await watchChain(world, chain);
    if (rereadsFinal ? !isBehind : advancedTo >= BigInt(LAST_BLOCK)) return;
  }
  throw new Error("the chain's end was not reached");
}

function readCpuUsage({ databaseId, nodeId }: BackfillJob): { oursUs: number; databaseUs: number; nodeUs: number } {
  const { user, system } = process.cpuUsage();
  return {
    oursUs: user + system,
    databaseUs: cpuUsOf(databaseId ?? Number.NaN),
    nodeUs: cpuUsOf(nodeId ?? Number.NaN),
  };
}

function recordBodies(): string[] {
  const bodies: string[] = [];
  subscribe("undici:request:create", (message) => {
    const { request } = message as { request: { body: unknown } };
    if (typeof request.body === "string") bodies.push(request.body);
    else if (request.body instanceof Uint8Array) bodies.push(Buffer.from(request.body).toString());
    else throw new Error("a request's body is not text");
  });
  return bodies;
}

async function startProfile(path: string): Promise<() => Promise<void>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 200 });
  await session.post("Profiler.start");
  return async () => {
    const { profile } = await session.post("Profiler.stop");
    await writeFile(path, JSON.stringify(profile));
    session.disconnect();
  };
}

function tokenConfig() {
  const { slug, ...rest } = {
    symbol: "USDC",
    slug: "usdc",
    decimals: 6,
    minimumUnits: 0n,
    isOrigin: true,
    isRail: true,
  };
  return { ...rest, slug, address: TOKEN };
}
