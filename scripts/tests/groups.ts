// How a test run is divided. test/testGroups.ts holds the repository's groups.

export type TestGroup = {
  name: string;
  /** Globs, from the repository's root. */
  files: readonly string[];
  /** One process for all files of the group, instead of one for each. */
  isShared?: boolean;
  /** Modules that a shared process loads first. Their resources stay open until the last file ends. */
  preload?: readonly string[];
};

export type TestRunSetup = {
  groups: readonly TestGroup[];
  /** The seconds of the slowest files and shared groups, which start first. */
  slowSeconds: Readonly<Record<string, number>>;
  /** Files that a run without paths leaves out, because `test:deep` runs them, and their seconds there. */
  deepFiles?: Readonly<Record<string, number>>;
  /** Starts the shared resources of a run, and returns the environment variables that locate them. */
  startShared?: () => Promise<Readonly<Record<string, string>>>;
};

/** One process and the files that it runs, one after the other. */
export type TestJob = { name: string; files: readonly string[]; preload: readonly string[]; seconds: number };
