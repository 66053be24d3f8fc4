import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cpuUsOf, endedUs } from "../cpuTime.ts";
import type { BackfillReport } from "./backfillWorker.ts";
import { BLOCKS, TRANSFERS_A_BLOCK, type BenchChain } from "./chain.ts";
import type { DatabaseKind, BackfillFixture } from "./backfillFixture.ts";
import { median, tabulate } from "./statistics.ts";

// What an outage takes to make up for, beside the time in which the same answers of the same node can be thrown away.

/** Of each side, thrown away: node and disk have warmed up then. */
const WARM_RUNS = 1;
/** As many as ours has, and more make anvil no quicker on two cores. */
const IN_FLIGHT = 3;
const BYTES_PER_MB = 1_000_000;
const US_PER_S = 1_000_000;

export type DetectOptions = {
  runs: number;
  /** A folder for a profile of each of our sides. */
  profiles: string | undefined;
};

/** `warmUpRuns`: after a few times a process runs what the engine has compiled for good, as it does for most of a long outage. */
type BackfillSubject = { name: string; kind: DatabaseKind; timesBefore: number };

const BACKFILL_SUBJECTS: readonly [BackfillSubject, ...BackfillSubject[]] = [
  { name: "on PostgreSQL, fsync on", kind: "postgres", timesBefore: 0 },
  { name: "on PostgreSQL, by a process that did it 3 times before", kind: "postgres", timesBefore: 3 },
  { name: "on PGlite in a directory", kind: "pglite", timesBefore: 0 },
];

type Run = (side: BackfillSubject) => Promise<BackfillReport>;

/** Prints what ours takes on each database beside the floor. `finalChain` is the same chain, all of which is final. */
export async function benchBackfillOnAnvil(
  { chain, finalChain }: { chain: BenchChain; finalChain: BenchChain },
  scene: BackfillFixture,
  options: DetectOptions,
): Promise<void> {
  const run: Run = ({ kind, timesBefore: warmUpRuns }) =>
    scene.run(kind, { rpcUrl: chain.rpcUrl, nodeId: chain.processId, rereadsFinal: false, warmUpRuns });
  const bodies = (await run(BACKFILL_SUBJECTS[0])).bodies.filter((body) => body.includes("eth_getLogs"));
  const curl = join(scene.scratch, "curl");
  await writeFile(curl, curlConfig(chain.rpcUrl, bodies));
  const floorMs = await compare({ run, curl, nodeId: chain.processId, answers: bodies.length }, options);
  const again = () =>
    scene.run("postgres", { rpcUrl: finalChain.rpcUrl, nodeId: finalChain.processId, rereadsFinal: true });
  await measureReread(again, { ...options, floorMs });
  if (options.profiles === undefined) return;
  await mkdir(options.profiles, { recursive: true });
  for (const kind of ["postgres", "pglite"] as const) {
    const profile = join(options.profiles, `backfill-${kind}.cpuprofile`);
    await scene.run(kind, { rpcUrl: chain.rpcUrl, rereadsFinal: false, profile });
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
  const ofFloor = (read: (floor: Floor) => number) => median(floors.map(read));
  const floorMs = ofFloor(({ ms }) => ms);
  console.log(
    `\nback-fill of ${BLOCKS} blocks of ${TRANSFERS_A_BLOCK} transfers until ${BLOCKS} movements are committed and booked, medians of ${runs}`,
  );
  const name = `floor: ${answers} answers of logs, thrown away`;
  const used = [ofFloor(({ nodeUs }) => nodeUs), ofFloor(({ curlUs }) => curlUs), Number.NaN];
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

/** What is final is read again and compared, after all of it was committed. */
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
  const of = (read: (report: BackfillReport) => number) => median(reports.map(read));
  const ms = of((report) => report.ms);
  return [
    name,
    ms.toFixed(0),
    (ms / floorMs).toFixed(2),
    ...[of(({ nodeUs }) => nodeUs), of(({ oursUs }) => oursUs), of(({ databaseUs }) => databaseUs)].map(formatSeconds),
    of((report) => report.bodies.length).toFixed(0),
    of((report) => countCalls(report.bodies)).toFixed(0),
    (of((report) => report.peakRssBytes) / BYTES_PER_MB).toFixed(0),
    of((report) => report.warmMs).toFixed(0),
  ];
}

/** Nothing where it was not told. */
function formatSeconds(us: number): string {
  return Number.isNaN(us) ? "" : (us / US_PER_S).toFixed(2);
}

function countCalls(bodies: readonly string[]): number {
  return bodies.flatMap((body) => JSON.parse(body) as unknown).length;
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
