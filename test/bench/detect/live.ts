import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Hex } from "viem";
import { DEV_ACCOUNTS } from "../../../src/dev/devAccounts.ts";
import { signCalls } from "../../../src/dev/chains/devClient.ts";
import { transferCall } from "../../../src/dev/chains/tokens.ts";
import { openDatabase, type Db } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { runLoops } from "../../../src/loops/runLoops.ts";
import { startPostgres } from "../../support/postgres.ts";
import { openRoad, type Road } from "../../support/road.ts";
import { startMinimalIndexer } from "./minimalIndexer.ts";
import { heading, tabulate } from "./statistics.ts";

// How long it takes from the block that has a deposit to the committed rows (cursor and movement), with every loop of the service running.

const BLOCKS = 100;
/** The first ones are slower: statements are planned and code is compiled. */
const WARM_UP = 60;
const POLL_MS = 250;
/** With a websocket the polling interval is so long that nothing can come of it. */
const POLL_MS_PUSHED = 60_000;
const TIMEOUT_MS = 10_000;
const PAUSE_MS = 150;
/** That of a rollup: a few blocks, so that what a block records is booked with a later one. */
const FINALITY = [{ upToPriceUnits: undefined, finality: { confirmations: 5 } }];

export type LiveFigures = { p50Ms: number; p90Ms: number; slowestMs: number };
export type LiveKind = "postgres" | "pglite";
/** `bare`: a program that can do nothing else, as the floor for the websocket. */
export type DetectionMode = "bare" | "websocket" | "polling";
export type LiveReport = Record<LiveKind, Record<DetectionMode, LiveFigures>>;

/** Prints and returns how long a block waits to be recorded, by each way on each database. PostgreSQL runs with fsync. */
export async function benchLive(): Promise<LiveReport> {
  const scratch = await mkdtemp(join(tmpdir(), "tributary-bench-live-"));
  const postgres = await startPostgres(undefined, { isDurable: true });
  try {
    const postgresOf = async (way: DetectionMode) => {
      const admin = await openDatabase({ url: postgres.urlOf("postgres") });
      await sql`create database ${sql.ref(`live_${way}`)}`.execute(admin.root);
      await admin.close();
      return openDatabase({ url: postgres.urlOf(`live_${way}`) });
    };
    const pgliteOf = (way: DetectionMode) => openDatabase({ directory: join(scratch, way) });
    const report = {
      postgres: await measureModes(postgresOf),
      pglite: await measureModes(pgliteOf),
    };
    console.log(tableOf(report));
    return report;
  } finally {
    await postgres.remove();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function measureModes(openFor: (way: DetectionMode) => Promise<Db>): Promise<Record<DetectionMode, LiveFigures>> {
  return {
    bare: await measure("bare", openFor),
    websocket: await measure("websocket", openFor),
    polling: await measure("polling", openFor),
  };
}

async function measure(way: DetectionMode, openFor: (way: DetectionMode) => Promise<Db>): Promise<LiveFigures> {
  const db = await openFor(way);
  await migrate(db, { appliedAt: systemClock.now() });
  const pollMs = way === "polling" ? POLL_MS : POLL_MS_PUSHED;
  const wsUrl = async ({ rpcUrl }: { rpcUrl: string }) => rpcUrl.replace(/^http/, "ws");
  const road = await openRoad({ db, ...(way === "websocket" && { wsUrl }), chain: { pollMs, finality: FINALITY } });
  const side = await (way === "bare" ? runMinimalIndexer(road) : runService(road));
  const waits: number[] = [];
  for (let block = 0; block < BLOCKS + WARM_UP; block += 1) {
    const ms = await waitForRows(road, { block, side });
    if (block >= WARM_UP) waits.push(ms);
  }
  await side.stop();
  await road.close();
  return figuresOf(waits);
}

type LiveSubject = {
  watch: (inbox: string) => void;
  /** Resolves with the time when rows are next said to be there: right after their transaction was committed. */
  nextRecorded: () => Promise<number>;
  isRecorded: (chainTx: string) => Promise<boolean>;
  stop: () => Promise<void>;
};

async function runService(road: Road): Promise<LiveSubject> {
  const { wake, db } = road.world;
  const { next: nextRecorded, tell } = createNotifier();
  const notify = wake.notify.bind(wake);
  wake.notify = (topic) => {
    if (topic.startsWith("deposits:")) tell();
    notify(topic);
  };
  const ending = new AbortController();
  const loops = runLoops(road.world, ending.signal);
  await delay(1_000);
  return {
    watch: () => {},
    nextRecorded,
    isRecorded: async (chainTx) => {
      const query = db.root
        .selectFrom("movement")
        .innerJoin("chain_cursor", "chain_cursor.chain", "movement.chain")
        .select("movement.id")
        .where("chain_tx", "=", chainTx)
        .whereRef("chain_cursor.number", ">=", "movement.block_number");
      return (await query.executeTakeFirst()) !== undefined;
    },
    stop: async () => {
      ending.abort();
      await loops;
    },
  };
}

async function runMinimalIndexer(road: Road): Promise<LiveSubject> {
  const { db } = road.world;
  const { next: nextRecorded, tell } = createNotifier();
  const { rpcUrl, usdc } = road.chain;
  const bare = await startMinimalIndexer({ db, rpcUrl, token: usdc.address, onRecorded: tell });
  return {
    watch: (inbox) => bare.inboxes.add(inbox),
    nextRecorded,
    isRecorded: async (chainTx) => {
      const { rows } = await sql`select from bare_movement where chain_tx = ${chainTx}`.execute(db.root);
      return rows.length > 0;
    },
    stop: bare.stop,
  };
}

function createNotifier(): { next: () => Promise<number>; tell: () => void } {
  let heard = Promise.withResolvers<number>();
  const signalRecorded = () => {
    heard.resolve(performance.now());
    heard = Promise.withResolvers<number>();
  };
  return { next: () => heard.promise, tell: signalRecorded };
}

async function waitForRows(road: Road, { block, side }: { block: number; side: LiveSubject }): Promise<number> {
  const { client, usdc } = road.chain;
  const intent = await road.create();
  side.watch(intent.inbox_address);
  const [signed] = await signCalls(client, DEV_ACCOUNTS.payer, [
    transferCall(usdc.address, intent.inbox_address as Hex, 1_000_000n),
  ]);
  if (signed === undefined) throw new Error("a call was signed");
  // What the last block has caused is over by then; and the wait for the next poll is part of the figure as often as in life.
  await delay(PAUSE_MS + ((block * 37) % POLL_MS));
  await client.setAutomine(false);
  const chainTx = await client.sendRawTransaction({ serializedTransaction: signed });
  const mined = client.mine({ blocks: 1 }).then(() => performance.now());
  const firstAt = performance.now();
  for (;;) {
    const recordedAt = await side.nextRecorded();
    const isRecorded = await side.isRecorded(chainTx);
    if (!isRecorded && performance.now() - firstAt < TIMEOUT_MS) continue;
    if (!isRecorded) throw new Error(`${chainTx} was not recorded within ${TIMEOUT_MS} ms`);
    const minedAt = await mined;
    await client.setAutomine(true);
    return recordedAt - minedAt;
  }
}

function figuresOf(waits: readonly number[]): LiveFigures {
  const sorted = waits.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  return { p50Ms: at(0.5), p90Ms: at(0.9), slowestMs: at(1) };
}

function tableOf(report: LiveReport): string {
  const ms = (value: number) => value.toFixed(1);
  const rows = (["postgres", "pglite"] as const).flatMap((kind) =>
    (["bare", "websocket", "polling"] as const).map((way) => {
      const { p50Ms, p90Ms, slowestMs } = report[kind][way];
      const name = way === "polling" ? `polling every ${POLL_MS} ms` : way;
      return [`${kind}, ${name}`, ms(p50Ms), ms(p90Ms), ms(slowestMs)];
    }),
  );
  return tabulate([["block mined → rows committed, ms", "p50", "p90", "slowest"], ...rows]);
}
if (import.meta.main) {
  console.log(heading({ anvil: "1.7.1" }));
  await benchLive();
}
