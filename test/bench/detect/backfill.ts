import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { openDatabase } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { startPostgres } from "../../support/postgres.ts";
import { BLOCKS, TRANSFERS_A_BLOCK, type BusyChain } from "./chain.ts";
import type { BackfillOrder, BackfillReport } from "./backfillSide.ts";
import { insertInboxes } from "./inboxes.ts";
import { median, tabulate } from "./statistics.ts";

// What an outage takes to make up for, beside the time in which the same answers of the same node can be thrown away.

/** Of each side, thrown away: node and disk have warmed up then. */
const WARM_RUNS = 1;
/** As many as ours has, and more make anvil no quicker on two cores. */
const IN_FLIGHT = 3;
const BYTES_A_MB = 1_000_000;

export type DetectOptions = {
  runs: number;
  /** A folder for a profile of each of our sides. */
  profiles: string | undefined;
};

export type Detected = { floorMs: number; oursMs: number };
type Kind = "postgres" | "pglite";
type Run = (kind: Kind, options?: { readsAgain?: boolean; profile?: string }) => Promise<BackfillReport>;
type Scene = { run: Run; curl: string; answers: number };

/** Prints what ours takes on each database beside the floor. `finalChain` is the same chain, all of which is final. */
export async function benchBackfillOnAnvil(
  { chain, finalChain }: { chain: BusyChain; finalChain: BusyChain },
  options: DetectOptions,
): Promise<Detected> {
  const scratch = await mkdtemp(join(tmpdir(), "tributary-bench-"));
  const postgres = await startPostgres(undefined, { isDurable: true });
  try {
    const openPlace = await preparePlaces(postgres.urlOf("postgres"), scratch);
    const runOn =
      (rpcUrl: string): Run =>
      async (kind, { readsAgain = false, profile } = {}) =>
        runOurs({ database: await openPlace(kind), rpcUrl, readsAgain, ...(profile === undefined ? {} : { profile }) });
    const run = runOn(chain.rpcUrl);
    const bodies = (await run("postgres")).bodies.filter((body) => body.includes("eth_getLogs"));
    const curl = join(scratch, "curl");
    await writeFile(curl, curlConfig(chain.rpcUrl, bodies));
    const detected = await compare({ run, curl, answers: bodies.length }, options);
    await measureSecondReading(runOn(finalChain.rpcUrl), { ...options, floorMs: detected.floorMs });
    if (options.profiles !== undefined) await profile(run, options.profiles);
    return detected;
  } finally {
    await postgres.remove();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function compare({ run, curl, answers }: Scene, { runs }: DetectOptions): Promise<Detected> {
  const floors: number[] = [];
  const ours: Record<Kind, BackfillReport[]> = { postgres: [], pglite: [] };
  for (let count = -WARM_RUNS; count < runs; count += 1) {
    const [floor, onPostgres, onPglite] = [await throwAway(curl), await run("postgres"), await run("pglite")];
    if (count < 0) continue;
    floors.push(floor);
    ours.postgres.push(onPostgres);
    ours.pglite.push(onPglite);
  }
  const floorMs = median(floors);
  console.log(
    `back-fill of ${BLOCKS} blocks of ${TRANSFERS_A_BLOCK} transfers until ${BLOCKS} movements are committed and booked, medians of ${runs}`,
  );
  const floor = [`floor: ${answers} answers of logs, thrown away`, floorMs.toFixed(0), "1.00", String(answers)];
  const table = [HEAD, [...floor, String(answers), "", ""]];
  table.push(rowOf("on PostgreSQL, fsync on", ours.postgres, floorMs));
  table.push(rowOf("on PGlite in a directory", ours.pglite, floorMs));
  console.log(tabulate(table));
  return { floorMs, oursMs: median(ours.postgres.map((report) => report.ms)) };
}

/** What is final is read again and compared, after all of it was committed. */
async function measureSecondReading(run: Run, { runs, floorMs }: { runs: number; floorMs: number }): Promise<void> {
  const reports: BackfillReport[] = [];
  for (let count = 0; count < runs; count += 1) reports.push(await run("postgres", { readsAgain: true }));
  console.log(tabulate([HEAD, rowOf("and all of it read a second time", reports, floorMs)]));
}

async function profile(run: Run, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const kind of ["postgres", "pglite"] as const) {
    const path = join(folder, `backfill-${kind}.cpuprofile`);
    await run(kind, { profile: path });
    console.log(`profile: ${path}`);
  }
}

const HEAD = ["", "ms", "× floor", "requests", "calls", "peak MB", "first block ms"];

function rowOf(name: string, reports: readonly BackfillReport[], floorMs: number): string[] {
  const of = (read: (report: BackfillReport) => number) => median(reports.map(read));
  const ms = of((report) => report.ms);
  return [
    name,
    ms.toFixed(0),
    (ms / floorMs).toFixed(2),
    of((report) => report.bodies.length).toFixed(0),
    of((report) => callsIn(report.bodies)).toFixed(0),
    (of((report) => report.peakRssBytes) / BYTES_A_MB).toFixed(0),
    of((report) => report.warmMs).toFixed(0),
  ];
}

function callsIn(bodies: readonly string[]): number {
  return bodies.flatMap((body) => JSON.parse(body) as unknown).length;
}

/** 100,000 inboxes on each database; ours finds them as the run before left them, or in a copy. */
async function preparePlaces(
  url: string,
  scratch: string,
): Promise<(kind: Kind) => Promise<BackfillOrder["database"]>> {
  const directory = join(scratch, "pglite");
  for (const place of [{ url }, { directory }]) {
    const db = await openDatabase(place);
    await migrate(db, { appliedAt: new Date("2026-01-01T00:00:00Z") });
    await insertInboxes(db);
    await db.close();
  }
  let copies = 0;
  return async (kind) => {
    if (kind === "postgres") {
      await checkpoint(url);
      return { url };
    }
    await rm(`${directory}-${copies}`, { recursive: true, force: true });
    copies += 1;
    await cp(directory, `${directory}-${copies}`, { recursive: true });
    return { directory: `${directory}-${copies}` };
  };
}

/** So that no run pays for what the one before has left unwritten. */
async function checkpoint(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("checkpoint");
  await client.end();
}

async function runOurs(order: BackfillOrder): Promise<BackfillReport> {
  const side = fork(new URL("backfillSide.ts", import.meta.url), { execArgv: ["--no-warnings"] });
  const ended = once(side, "exit").then(([code]) => {
    throw new Error(`a run ended with ${code}`);
  });
  side.send(order);
  const [report] = (await Promise.race([once(side, "message"), ended])) as [BackfillReport];
  await ended.catch(() => undefined);
  return report;
}

/** One line of curl's own configuration for each request, over few sockets that are kept. */
function curlConfig(url: string, bodies: readonly string[]): string {
  const one = (body: string) =>
    [
      `url = "${url}"`,
      'output = "/dev/null"',
      'header = "content-type: application/json"',
      `data = ${JSON.stringify(body)}`,
    ].join("\n");
  return bodies.map(one).join("\nnext\n");
}

async function throwAway(config: string): Promise<number> {
  const startedAt = performance.now();
  const flags = ["--silent", "--fail", "--parallel", "--parallel-max", String(IN_FLIGHT), "--config", config];
  await promisify(execFile)("curl", flags);
  return performance.now() - startedAt;
}
