import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inboxAt, INBOXES } from "../backfillNode.ts";
import type { DetectOptions } from "./backfill.ts";
import type { BenchChain } from "./chain.ts";
import { prepareEnvio } from "./envio.ts";
import { preparePonder } from "./ponder.ts";
import type { IndexerRun, IndexerContext } from "./indexer.ts";
import type { BackfillFixture } from "./backfillFixture.ts";
import { median, tabulate } from "./statistics.ts";

// The same stretch of the same node through the indexers that others would use, each doing what a user of it does: it takes every transfer
// of the token, keeps those that pay one of the 100,000 inboxes, and is done when the last of them is in its database.

/** Prints each rival's time beside ours, taken in turns. One that cannot be installed or run here is named, without a figure. */
export async function benchIndexers(chain: BenchChain, scene: BackfillFixture, { runs }: DetectOptions): Promise<void> {
  const watchedFile = join(scene.scratch, "watched.txt");
  await writeFile(watchedFile, Array.from({ length: INBOXES }, (_, index) => inboxAt(index)).join("\n"));
  const place: IndexerContext = { rpcUrl: chain.rpcUrl, watchedFile, newDatabase: scene.newDatabase };
  const rivals = [
    ...(await skipOnFailure("Ponder", preparePonder(place))),
    ...(await skipOnFailure("Envio", prepareEnvio(place))),
  ];
  const runsOf = new Map<string, IndexerRun[]>(rivals.map(({ name }) => [name, []]));
  const ours: number[] = [];
  for (let count = 0; count < runs; count += 1) {
    ours.push((await scene.run("postgres", { rpcUrl: chain.rpcUrl, rereadsFinal: false })).ms);
    for (const rival of rivals) {
      const [run] = await skipOnFailure(
        rival.name,
        rival.run(count).then((one) => [one]),
      );
      if (run) runsOf.get(rival.name)?.push(run);
    }
  }
  const oursMs = median(ours);
  console.log(`\nthe same stretch by others, medians of ${runs}, in turns with ours`);
  const table = [
    ["", "s", "× ours", "calls", "peak MB", "runs"],
    ["Tributary on PostgreSQL, fsync on", (oursMs / 1_000).toFixed(2), "1.0"],
  ];
  for (const [name, done] of runsOf) table.push(rowOf(name, done, oursMs));
  console.log(tabulate(table));
}

function rowOf(name: string, runs: readonly IndexerRun[], oursMs: number): string[] {
  if (runs.length === 0) return [name, "did not run here"];
  const ms = median(runs.map((run) => run.ms));
  const calls = runs.flatMap((run) => run.calls ?? []);
  return [
    name,
    (ms / 1_000).toFixed(1),
    (ms / oursMs).toFixed(1),
    calls.length === 0 ? "not told" : median(calls).toFixed(0),
    (median(runs.map((run) => run.peakRssBytes)) / 1_000_000).toFixed(0),
    String(runs.length),
  ];
}

async function skipOnFailure<T>(name: string, preparing: Promise<T[]>): Promise<T[]> {
  try {
    return await preparing;
  } catch (error) {
    console.log(`${name} could not be run here: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}
