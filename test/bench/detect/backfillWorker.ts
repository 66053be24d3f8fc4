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
import type { WatchWorld } from "../../../src/watch/store/applySegment.ts";
import { watchChain } from "../../../src/watch/follow/watchChain.ts";
import { stationWorld } from "../../support/stationWorld.ts";
import { cpuUsOf } from "../cpuTime.ts";
import { TOKEN } from "../backfillNode.ts";
import { BLOCKS, LAST_BLOCK, WARM_BLOCK } from "./chain.ts";
import { resetRecordedState } from "./inboxes.ts";

// One run of ours, in a process that did nothing before: what an outage takes to make up for.

export type BackfillJob = {
  database: { url: string } | { directory: string };
  /** Processes whose time is told beside ours; a database that is part of ours has none. */
  databaseId?: number;
  nodeId?: number;
  rpcUrl: string;
  /** Goes on until all that is final has been read a second time. */
  rereadsFinal: boolean;
  /** How often the process does the same before it is measured. */
  warmUpRuns?: number;
  /** Where the profile of the measured time is written. */
  profile?: string;
};

export type BackfillReport = {
  /** One block before the others, and the watched set with it. */
  warmMs: number;
  ms: number;
  /** Of processors, meanwhile; NaN where it cannot be told. */
  oursUs: number;
  databaseUs: number;
  nodeUs: number;
  /** What was sent while it was measured, in its order: each HTTP request's body. */
  bodies: string[];
  peakRssBytes: number;
};

const WATCH_CALLS_MAX = 10_000;

process.once("message", (order: BackfillJob) => {
  void run(order).then((report) => process.send?.(report, () => process.disconnect()));
});

async function run(order: BackfillJob): Promise<BackfillReport> {
  const db = await openDatabase(order.database);
  await resetRecordedState(db);
  const log = pino({ level: "silent" });
  const station = stationWorld(db, { tokens: [tokenConfig()] });
  const world: WatchWorld = { ...station, wake: createWake(systemClock), log };
  const warmMs = await warmUp(world, order.rpcUrl);
  for (let time = 0; time < (order.warmUpRuns ?? 0); time += 1) {
    const before = openEvmNode({ caip2: "eip155:31337", rpcUrl: order.rpcUrl });
    await watch(world, createChain(before), order.rereadsFinal);
    await before.close();
    await resetRecordedState(db);
    await warmUp(world, order.rpcUrl);
  }
  const bodies = recordBodies();
  const driver = openEvmNode({ caip2: "eip155:31337", rpcUrl: order.rpcUrl });
  const chain = createChain(driver);
  const stopProfile = order.profile === undefined ? undefined : await startProfile(order.profile);
  const usedBefore = readCpuUsage(order);
  const startedAt = performance.now();
  await watch(world, chain, order.rereadsFinal);
  const ms = performance.now() - startedAt;
  const used = readCpuUsage(order);
  await stopProfile?.();
  const sent = [...bodies];
  const movements = await db.root.selectFrom("movement").select("id").execute();
  if (movements.length !== BLOCKS) throw new Error(`${movements.length} movements were committed, not ${BLOCKS}`);
  await driver.close();
  await db.close();
  const ofProcessors = {
    oursUs: used.oursUs - usedBefore.oursUs,
    databaseUs: used.databaseUs - usedBefore.databaseUs,
    nodeUs: used.nodeUs - usedBefore.nodeUs,
  };
  return { warmMs, ms, ...ofProcessors, bodies: sent, peakRssBytes: process.resourceUsage().maxRSS * 1_024 };
}

/** Begins two blocks before the stretch, as if the chain ended there, and reads one. */
async function warmUp(world: WatchWorld, rpcUrl: string): Promise<number> {
  const begun = openDriverEndingAt(rpcUrl, WARM_BLOCK - 1);
  await watchChain(world, createChain(begun));
  const grown = openDriverEndingAt(rpcUrl, WARM_BLOCK);
  const startedAt = performance.now();
  await watchChain(world, createChain(grown));
  const ms = performance.now() - startedAt;
  await Promise.all([begun.close(), grown.close()]);
  return ms;
}

function openDriverEndingAt(rpcUrl: string, headNumber: number): JsonRpcNode {
  const driver = openEvmNode({ caip2: "eip155:31337", rpcUrl });
  driver.head = async (tag) => {
    const number = BigInt(tag === "latest" ? headNumber : 0);
    const block = await driver.block({ number });
    if (block === undefined) throw new Error(`there is no block ${number}`);
    return block;
  };
  return driver;
}

function createChain(driver: JsonRpcNode): Chain {
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  return createEvmChain({ nodes: [driver], gasAccount }, { clock: systemClock, log: pino({ level: "silent" }) });
}

async function watch(world: WatchWorld, chain: Chain, readsAgain: boolean): Promise<void> {
  for (let look = 0; look < WATCH_CALLS_MAX; look += 1) {
    const { advancedTo, isBehind } = await watchChain(world, chain);
    if (readsAgain ? !isBehind : advancedTo >= BigInt(LAST_BLOCK)) return;
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
    else throw new Error("a request's body is no text");
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
