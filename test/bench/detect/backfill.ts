import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cpuUsOf, endedUs } from "../cpuTime.ts";
import type { BackfillReport } from "./backfillWorker.ts";
import { BLOCKS, TRANSFERS_A_BLOCK, type BenchChain } from "./chain.ts";
import type { DatabaseKind, BackfillFixture } from "./backfillFixture.ts";
import { median, tabulate } from "./statistics.ts";

// Compares catch-up after an outage with the time to fetch and discard the same answers of the same node.

/** Discarded runs per side, which warm up node and disk. */
const WARM_RUNS = 1;
/** The service's own concurrency; more does not speed up anvil on two cores. */
const IN_FLIGHT = 3;
const BYTES_PER_MB = 1_000_000;
const US_PER_S = 1_000_000;

export type DetectOptions = {
  runs: number;
  /** The folder for CPU profiles. */
  profiles: string | undefined;
};

/** `timesBefore` runs let the engine compile the code, as during most of a long outage. */
type BackfillSubject = { name: string; kind: DatabaseKind; timesBefore: number };

const BACKFILL_SUBJECTS: readonly [BackfillSubject, ...BackfillSubject[]] = [
  { name: "on PostgreSQL, fsync on", kind: "postgres", timesBefore: 0 },
  { name: "on PostgreSQL, by a process that did it 3 times before", kind: "postgres", timesBefore: 3 },
  { name: "on PGlite in a directory", kind: "pglite", timesBefore: 0 },
];

type Run = (side: BackfillSubject) => Promise<BackfillReport>;

/**
 * Prints the service's time on each database beside the floor. `finalChain` is the same chain with all blocks final.
 */
export async function benchBackfillOnAnvil(
  { chain, finalChain }: { chain: BenchChain; finalChain: BenchChain },
  fixture: BackfillFixture,
  options: DetectOptions,
): Promise<void> {
  const run: Run = ({ kind, timesBefore: warmUpRuns }) =>
    fixture.run(kind, { rpcUrl: chain.rpcUrl, nodeId: chain.processId, rereadsFinal: false, warmUpRuns });
  const bodies = (await run(BACKFILL_SUBJECTS[0])).bodies.filter((body) => body.includes("eth_getLogs"));
  const curl = join(fixture.scratch, "curl");
  await writeFile(curl, curlConfig(chain.rpcUrl, bodies));
  const floorMs = await compare({ run, curl, nodeId: chain.processId, answers: bodies.length }, options);
  const reread = () =>
    fixture.run("postgres", { rpcUrl: finalChain.rpcUrl, nodeId: finalChain.processId, rereadsFinal: true });
  await measureReread(reread, { ...options, floorMs });
  if (options.profiles === undefined) return;
  await mkdir(options.profiles, { recursive: true });
  for (const kind of ["postgres", "pglite"] as const) {
    const profile = join(options.profiles, `backfill-${kind}.cpuprofile`);
    await fixture.run(kind, { rpcUrl: chain.rpcUrl, rereadsFinal: false, profile });
    console.log(`profile: ${profile}`);
  }
}

/** Resolves with the floor. */
async function compare(
  { run, curl, nodeId, answers }: { run: Run; curl: string; nodeId: number; answers: number },
  { runs }: DetectOptions,
): Promise<number> {
  const floors: Floor[] = [];
  const ours = new Map(BACKFILL_SUBJECTS.map((side): [BackfillSubject, BackfillReport[]] => [side, []]));
  for (let count = -WARM_RUNS; count < runs; count += 1) {
    const isMeasured = count >= 0;
    const floor = await measureFloor(curl, nodeId);
    if (isMeasured) floors.push(floor);
    for (const [side, reports] of ours) {
      const report = await run(side);
      if (isMeasured) reports.push(report);
    }
  }
  const medianOfFloors = (read: (floor: Floor) => number) => median(floors.map(read));
  const floorMs = medianOfFloors(({ ms }) => ms);
  console.log(
    `\nback-fill of ${BLOCKS} blocks of ${TRANSFERS_A_BLOCK} transfers until ${BLOCKS} movements are committed and booked, medians of ${runs}`,
  );
  const name = `floor: ${answers} answers of logs, discarded`;
  const used = [medianOfFloors(({ nodeUs }) => nodeUs), medianOfFloors(({ curlUs }) => curlUs), Number.NaN];
  const floor = [
    name,
    floorMs.toFixed(0),
    "1.00",
    ...used.map(formatSeconds),
    String(answers),
    String(answers),
    "",
    "",
  ];
  const table = [HEAD, floor];
  for (const [{ name }, reports] of ours) table.push(rowOf(name, reports, floorMs));
  console.log(tabulate(table));
  return floorMs;
}

/** Measures a run that also reads final blocks a second time and compares them. */
async function measureReread(
  run: () => Promise<BackfillReport>,
  { runs, floorMs }: { runs: number; floorMs: number },
): Promise<void> {
  const reports: BackfillReport[] = [];
  for (let count = 0; count < runs; count += 1) reports.push(await run());
  console.log(tabulate([HEAD, rowOf("PostgreSQL, and all of it read a second time", reports, floorMs)]));
}

const HEAD = ["", "ms", "× floor", "node s", "ours s", "database s", "requests", "calls", "peak MB", "first block ms"];

function rowOf(name: string, reports: readonly BackfillReport[], floorMs: number): string[] {
  const medianOf = (read: (report: BackfillReport) => number) => median(reports.map(read));
  const ms = medianOf((report) => report.ms);
  return [
    name,
    ms.toFixed(0),
    (ms / floorMs).toFixed(2),
    ...[
      medianOf(({ nodeUs }) => nodeUs),
      medianOf(({ oursUs }) => oursUs),
      medianOf(({ databaseUs }) => databaseUs),
    ].map(formatSeconds),
    medianOf((report) => report.bodies.length).toFixed(0),
    medianOf((report) => countCalls(report.bodies)).toFixed(0),
    (medianOf((report) => report.peakRssBytes) / BYTES_PER_MB).toFixed(0),
    medianOf((report) => report.warmMs).toFixed(0),
  ];
}

/** Formats NaN as an empty cell. */
function formatSeconds(us: number): string {
  return Number.isNaN(us) ? "" : (us / US_PER_S).toFixed(2);
}

function countCalls(bodies: readonly string[]): number {
  return bodies.flatMap((body) => JSON.parse(body) as unknown).length;
}

/** The curl configuration: one block per request, with reused connections. */
function curlConfig(url: string, bodies: readonly string[]): string {
  const curlRequest = (body: string) =>
    [
      `url = "${url}"`,
      'output = "/dev/null"',
      'header = "content-type: application/json"',
      `data = ${JSON.stringify(body)}`,
    ].join("\n");
  return bodies.map(curlRequest).join("\nnext\n");
}

type Floor = { ms: number; nodeUs: number; curlUs: number };

async function measureFloor(config: string, nodeId: number): Promise<Floor> {
  const used = () => ({ nodeUs: cpuUsOf(nodeId), curlUs: endedUs(process.pid) });
  const before = used();
  const startedAt = performance.now();
  const flags = ["--silent", "--fail", "--parallel", "--parallel-max", String(IN_FLIGHT), "--config", config];
  await promisify(execFile)("curl", flags);
  const ms = performance.now() - startedAt;
  const { nodeUs, curlUs } = used();
  return { ms, nodeUs: nodeUs - before.nodeUs, curlUs: curlUs - before.curlUs };
}
