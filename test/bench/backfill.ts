import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { pino } from "pino";
import { Pool } from "undici";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { Db } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import type { WatchWorld } from "../../src/watch/watchWorld.ts";
import { databases, openTestDatabase } from "../support/database.ts";
import { stationWorld } from "../support/stationWorld.ts";
import { resetRecordedState, insertInboxes } from "./detect/inboxes.ts";
import { RANGE_BLOCKS, TOKEN, LAST_BLOCK, FIRST_BLOCK } from "./backfillNode.ts";
import { sized } from "./sized.ts";

// Measures catch-up after an outage: the same answers of one node, once discarded and once committed as rows.

const RUNS = sized(5, 1);
const HITS = LAST_BLOCK - FIRST_BLOCK + 1;

/** 2,000 blocks of 50 transfers (100,000 logs, about 63 MB), of which 2,000 go to 2,000 of 100,000 inboxes. */
export async function benchBackfill(): Promise<void> {
  const node = fork(new URL("backfillNode.ts", import.meta.url), ["serve"], { stdio: "inherit" });
  const [port] = (await once(node, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  console.log(
    `back-fill of ${LAST_BLOCK - FIRST_BLOCK + 1} blocks, medians of ${RUNS}, ${cpus().length} cores, Node ${process.version}`,
  );
  try {
    await measureFloor(url);
    const floorMs = median(await repeat(() => measureFloor(url)));
    console.log(`floor     ${floorMs.toFixed(0)} ms: the same answers, discarded`);
    for (const kind of databases) {
      const db = await openTestDatabase(kind);
      await insertInboxes(db);
      const cpuBefore = process.cpuUsage();
      const ms = median(await repeat(() => backfill(url, { db, node })));
      const cpu = process.cpuUsage(cpuBefore);
      await db.close();
      console.log(
        `${kind.padEnd(9)} ${ms.toFixed(0)} ms: committed rows, ${(ms / floorMs).toFixed(2)} of the floor; ${((cpu.user + cpu.system) / 1_000 / RUNS).toFixed(0)} ms of CPU here`,
      );
    }
  } finally {
    node.kill();
  }
}

async function measureFloor(url: string): Promise<number> {
  const pool = new Pool(url, { connections: 3 });
  const startedAt = performance.now();
  const ranges: [number, number][] = [];
  for (let from = FIRST_BLOCK; from <= LAST_BLOCK; from += RANGE_BLOCKS) ranges.push([from, from + RANGE_BLOCKS - 1]);
  const hex = (value: number) => `0x${value.toString(16)}`;
  const fetchRanges = async () => {
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const params = [{ fromBlock: hex(range[0]), toBlock: hex(range[1]) }];
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params });
      const response = await pool.request({ method: "POST", path: "/", body });
      await response.body.dump({ limit: Infinity });
    }
  };
  await Promise.all([fetchRanges(), fetchRanges(), fetchRanges()]);
  const ms = performance.now() - startedAt;
  await pool.destroy();
  return ms;
}

/** One run on tables reset to their initial state. */
async function backfill(url: string, { db, node }: { db: Db; node: ChildProcess }): Promise<number> {
  await resetRecordedState(db);
  const log = pino({ level: "silent" });
  const token = {
    symbol: "USDC",
    slug: "usdc",
    address: TOKEN,
    decimals: 6,
    minimumUnits: 0n,
    isOrigin: true,
    isRail: true,
  };
  const world: WatchWorld = { ...stationWorld(db, { tokens: [token] }), wake: createWake(systemClock), log };
  const driver = openEvmNode({ caip2: "eip155:31337", rpcUrl: url });
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  const chain = createEvmChain({ nodes: [driver], gasAccount }, { clock: systemClock, log });
  await setNodeHead(node, "begin");
  await watchChain(world, chain);
  await setNodeHead(node, "grow");
  const startedAt = performance.now();
  await watchChain(world, chain);
  const ms = performance.now() - startedAt;
  const { number } = await db.root.selectFrom("chain_cursor").select("number").executeTakeFirstOrThrow();
  const movements = await db.root.selectFrom("movement").select("id").execute();
  if (number < BigInt(LAST_BLOCK) || movements.length !== HITS)
    throw new Error(`${movements.length} movements at ${number}`);
  await driver.close();
  return ms;
}

async function setNodeHead(node: ChildProcess, phase: "begin" | "grow"): Promise<void> {
  node.send(phase);
  await once(node, "message");
}

async function repeat(run: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < RUNS; count += 1) times.push(await run());
  return times;
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}
