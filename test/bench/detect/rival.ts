import type { Scene } from "./scene.ts";

export type RivalRun = {
  /** From where it begins to fetch until all is committed; its start is not counted. */
  ms: number;
  /** JSON-RPC calls, where it tells. */
  calls: number | undefined;
  peakRssBytes: number;
};

export type RivalScene = {
  rpcUrl: string;
  /** The watched addresses, one a line. */
  watchedFile: string;
  newDatabase: Scene["newDatabase"];
};

/** `run` numbers the runs, so that each has a database and a schema of its own. */
export type Rival = { name: string; run(run: number): Promise<RivalRun> };
