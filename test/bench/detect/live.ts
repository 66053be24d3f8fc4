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
import { benchRequests } from "./requests.ts";
import { heading, tabulate } from "./statistics.ts";
import { sized } from "../sized.ts";

// Measures the time from a deposit's block to its committed rows (cursor and movement), with all loops running.

const BLOCKS = sized(60, 3);
/** They need minutes of a chain, whatever the blocks above. */
const HAS_REQUESTS = sized(1, 0) === 1;
/** Polling adds its interval, so fewer blocks show its figures. */
const POLLED_BLOCKS = sized(25, 2);
/** Unmeasured first blocks, during which statements are planned and code is compiled. */
const WARM_UP = sized(30, 2);
const POLL_MS = 250;
/** A polling interval too long to matter, for the websocket. */
const POLL_MS_PUSHED = 60_000;
const TIMEOUT_MS = 10_000;
/** Before each block, in which the work for the last one ends. In turns, a side has twice as long. */
const PAUSE_MS = 75;
/** As on a rollup: a few blocks, so that a later block books the deposits. */
const FINALITY = [{ upToPriceUnits: undefined, finality: { confirmations: 5 } }];

export type LiveFigures = { p50Ms: number; p90Ms: number; slowestMs: number };
export type LiveKind = "postgres" | "pglite";
/** `bare` is a minimal indexer, the floor for the websocket. */
export type DetectionMode = "bare" | "websocket" | "polling";
export type LiveReport = Record<LiveKind, Record<DetectionMode, LiveFigures>>;

/** Prints and returns the time from block to rows for each mode on each database. PostgreSQL runs with fsync. */
export async function benchLive(): Promise<LiveReport> {
  const scratch = await mkdtemp(join(tmpdir(), "tributary-bench-live-"));
  const postgres = await startPostgres(undefined, { isDurable: true });
  try {
    const postgresOf = async (mode: DetectionMode) => {
      const admin = await openDatabase({ url: postgres.urlOf("postgres") });
      await sql`create database ${sql.ref(`live_${mode}`)}`.execute(admin.root);
      await admin.close();
      return openDatabase({ url: postgres.urlOf(`live_${mode}`) });
    };
    const pgliteOf = (mode: DetectionMode) => openDatabase({ directory: join(scratch, mode) });
    const report = {
      postgres: await measureModes(postgresOf),
      pglite: await measureModes(pgliteOf),
    };
    console.log(tableOf(report));
    if (HAS_REQUESTS) await benchRequests();
    return report;
  } finally {
    await postgres.remove();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function measureModes(
  openFor: (mode: DetectionMode) => Promise<Db>,
): Promise<Record<DetectionMode, LiveFigures>> {
  const [bare, websocket] = await measureInTurns(
    [await open("bare", openFor), await open("websocket", openFor)],
    BLOCKS,
  );
  const [polling] = await measureInTurns([await open("polling", openFor)], POLLED_BLOCKS);
  if (!bare || !websocket || !polling) throw new Error("a mode was not measured");
  return { bare, websocket, polling };
}

type Side = { mode: DetectionMode; road: Road; subject: LiveSubject; waits: number[] };

async function open(mode: DetectionMode, openFor: (mode: DetectionMode) => Promise<Db>): Promise<Side> {
  const db = await openFor(mode);
  await migrate(db, { appliedAt: systemClock.now() });
  const pollMs = mode === "polling" ? POLL_MS : POLL_MS_PUSHED;
  const wsUrl = async ({ rpcUrl }: { rpcUrl: string }) => rpcUrl.replace(/^http/, "ws");
  const road = await openRoad({ db, ...(mode === "websocket" && { wsUrl }), chain: { pollMs, finality: FINALITY } });
  const subject = await (mode === "bare" ? runMinimalIndexer(road) : runService(road));
  return { mode, road, subject, waits: [] };
}

/** Block by block in turns, so that whatever else the machine does reaches every side. Closes the sides. */
async function measureInTurns(sides: readonly Side[], blocks: number): Promise<LiveFigures[]> {
  for (let block = 0; block < blocks + WARM_UP; block += 1)
    for (const side of sides) {
      const ms = await waitForRows(side, block);
      if (block >= WARM_UP) side.waits.push(ms);
    }
  for (const { subject, road } of sides) {
    await subject.stop();
    await road.close();
  }
  return sides.map(({ waits }) => figuresOf(waits));
}

type LiveSubject = {
  watch: (inbox: string) => void;
  /** Resolves with the time of the next commit that records rows. */
  nextRecorded: () => Promise<number>;
  isRecorded: (chainTx: string) => Promise<boolean>;
  stop: () => Promise<void>;
};

async function runService(road: Road): Promise<LiveSubject> {
  const { wake, db } = road.world;
  const { next: nextRecorded, notifyRecorded } = createNotifier();
  const notify = wake.notify.bind(wake);
  wake.notify = (topic) => {
    if (topic.startsWith("deposits:")) notifyRecorded();
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
  const { next: nextRecorded, notifyRecorded } = createNotifier();
  const { rpcUrl, usdc } = road.chain;
  const bare = await startMinimalIndexer({ db, rpcUrl, token: usdc.address, onRecorded: notifyRecorded });
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

function createNotifier(): { next: () => Promise<number>; notifyRecorded: () => void } {
  let nextSignal = Promise.withResolvers<number>();
  const signalRecorded = () => {
    nextSignal.resolve(performance.now());
    nextSignal = Promise.withResolvers<number>();
  };
  return { next: () => nextSignal.promise, notifyRecorded: signalRecorded };
}

async function waitForRows({ mode, road, subject }: Side, block: number): Promise<number> {
  const { client, usdc } = road.chain;
  const intent = await road.create();
  subject.watch(intent.inbox_address);
  const [signed] = await signCalls(client, DEV_ACCOUNTS.payer, [
    transferCall(usdc.address, intent.inbox_address as Hex, 1_000_000n),
  ]);
  if (signed === undefined) throw new Error("no call was signed");
  await delay(PAUSE_MS);
  // Spreads payments over the polling interval.
  if (mode === "polling") await delay((block * 37) % POLL_MS);
  await client.setAutomine(false);
  const chainTx = await client.sendRawTransaction({ serializedTransaction: signed });
  const mined = client.mine({ blocks: 1 }).then(() => performance.now());
  const firstAt = performance.now();
  for (;;) {
    const recordedAt = await subject.nextRecorded();
    const isRecorded = await subject.isRecorded(chainTx);
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
    (["bare", "websocket", "polling"] as const).map((mode) => {
      const { p50Ms, p90Ms, slowestMs } = report[kind][mode];
      const name = mode === "polling" ? `polling every ${POLL_MS} ms` : mode;
      return [`${kind}, ${name}`, ms(p50Ms), ms(p90Ms), ms(slowestMs)];
    }),
  );
  return tabulate([["block mined → rows committed, ms", "p50", "p90", "slowest"], ...rows]);
}
if (import.meta.main) {
  console.log(heading({ anvil: "1.7.1" }));
  await benchLive();
}
