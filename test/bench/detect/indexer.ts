import type { BackfillFixture } from "./backfillFixture.ts";

export type IndexerRun = {
  /** The time from the first fetch to the last commit, without the startup. */
  ms: number;
  /** JSON-RPC calls, if the indexer reports them. */
  calls: number | undefined;
  peakRssBytes: number;
};

export type IndexerContext = {
  rpcUrl: string;
  /** The watched addresses, one per line. */
  watchedFile: string;
  newDatabase: BackfillFixture["newDatabase"];
};

/** `run` takes the run's number, so that each run has its own database and schema. */
export type Indexer = { name: string; run(run: number): Promise<IndexerRun> };
