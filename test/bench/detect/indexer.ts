import type { BackfillFixture } from "./backfillFixture.ts";

export type IndexerRun = {
  /** From where it begins to fetch until all is committed; its start is not counted. */
  ms: number;
  /** JSON-RPC calls, where it tells. */
  calls: number | undefined;
  peakRssBytes: number;
};

export type IndexerContext = {
  rpcUrl: string;
  /** The watched addresses, one a line. */
  watchedFile: string;
  newDatabase: BackfillFixture["newDatabase"];
};

/** `run` numbers the runs, so that each has a database and a schema of its own. */
export type Indexer = { name: string; run(run: number): Promise<IndexerRun> };
