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

// Runs other indexers over the same blocks of the same node. Each is used as its documentation describes: it reads
// every transfer of the token, keeps those into the 100,000 inboxes, and is done when the last one is in its database.

/**
 * Prints each indexer's time beside ours, measured in turn. An indexer that cannot be installed or run gets no figure.
 */
export async function benchIndexers(
  chain: BenchChain,
  fixture: BackfillFixture,
  { runs }: DetectOptions,
): Promise<void> {
  const watchedFile = join(fixture.scratch, "watched.txt");
  await writeFile(watchedFile, Array.from({ length: INBOXES }, (_, index) => inboxAt(index)).join("\n"));
  const context: IndexerContext = { rpcUrl: chain.rpcUrl, watchedFile, newDatabase: fixture.newDatabase };
  const indexers = [
    ...(await skipOnFailure("Ponder", preparePonder(context))),
    ...(await skipOnFailure("Envio", prepareEnvio(context))),
  ];
  const runsOf = new Map<string, IndexerRun[]>(indexers.map(({ name }) => [name, []]));
  const ours: number[] = [];
  for (let count = 0; count < runs; count += 1) {
    ours.push((await fixture.run("postgres", { rpcUrl: chain.rpcUrl, rereadsFinal: false })).ms);
    for (const indexer of indexers) {
      const [run] = await skipOnFailure(
        indexer.name,
        indexer.run(count).then((one) => [one]),
      );
      if (run) runsOf.get(indexer.name)?.push(run);
    }
  }
  const oursMs = median(ours);
  console.log(`\nthe same blocks through other indexers, medians of ${runs}, in turns with ours`);
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
    calls.length === 0 ? "unknown" : median(calls).toFixed(0),
    (median(runs.map((run) => run.peakRssBytes)) / 1_000_000).toFixed(0),
    String(runs.length),
  ];
}

async function skipOnFailure<T>(name: string, preparation: Promise<T[]>): Promise<T[]> {
  try {
    return await preparation;
  } catch (error) {
    console.log(`${name} could not be run here: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}
