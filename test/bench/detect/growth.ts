import pg from "pg";
import { startPostgres } from "../../support/postgres.ts";
import type { GrowthJob, GrowthReport } from "./growthWorker.ts";
import { fillWithInboxes } from "./manyInboxes.ts";
import { runInChildProcess } from "./runInChildProcess.ts";
import { heading, median, tabulate } from "./statistics.ts";

// Measures whether a block costs more with more inboxes.

const COUNTS = [1_000, 10_000, 100_000, 1_000_000] as const;
const ROUNDS = 3;

/**
 * Prints the time for one new block by number of inboxes, on a PostgreSQL without fsync, whose disk time would hide
 * differences.
 */
export async function benchGrowth(): Promise<void> {
  const server = await startPostgres();
  try {
    const client = new pg.Client({ connectionString: server.urlOf("postgres") });
    await client.connect();
    for (const inboxes of COUNTS) {
      await client.query(`create database inboxes_${inboxes}`);
      await fillWithInboxes(server.urlOf(`inboxes_${inboxes}`), inboxes);
    }
    const reports = new Map<number, GrowthReport[]>(COUNTS.map((inboxes) => [inboxes, []]));
    // In turn, so that other load on the machine affects all counts.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const inboxes of COUNTS) {
        const job: GrowthJob = { url: server.urlOf(`inboxes_${inboxes}`), inboxes };
        reports.get(inboxes)?.push(await runInChildProcess<GrowthReport>("growthWorker.ts", job));
      }
    }
    await client.end();
    print(reports);
  } finally {
    await server.remove();
  }
}

function print(reports: ReadonlyMap<number, readonly GrowthReport[]>): void {
  console.log(`growth: one look at one new block, medians of ${ROUNDS} processes of 200 looks each`);
  const medianOf = (inboxes: number, read: (report: GrowthReport) => number) =>
    median((reports.get(inboxes) ?? []).map(read));
  const [fewest] = COUNTS;
  const base = medianOf(fewest, (report) => report.lookMs);
  const rows = COUNTS.map((inboxes) => {
    const lookMs = medianOf(inboxes, (report) => report.lookMs);
    return [
      `${inboxes.toLocaleString("en")} inboxes`,
      lookMs.toFixed(2),
      (lookMs / base).toFixed(2),
      medianOf(inboxes, (report) => report.refreshMs).toFixed(2),
      medianOf(inboxes, (report) => report.loadMs).toFixed(0),
    ];
  });
  console.log(tabulate([["", "ms a look", "× fewest", "of it: new inboxes?", "ms to load all"], ...rows]));
}

if (import.meta.main) {
  console.log(heading());
  await benchGrowth();
}
