// How a run of the tests is divided. The repository's own division stands in test/testGroups.ts.

export type TestGroup = {
  name: string;
  /** Globs, from the repository's root. */
  files: readonly string[];
  /** One process for all files of the group, instead of one for each. */
  isShared?: boolean;
  /** Modules that a shared process loads first: what they open stays open until the last file ends. */
  preload?: readonly string[];
};

export type TestRunSetup = {
  groups: readonly TestGroup[];
  /** Seconds of the files and shared groups that take longest; they start first. */
  slowSeconds: Readonly<Record<string, number>>;
  /** Starts what all processes of a run share, and returns the environment in which they find it. */
  startShared?: () => Promise<Readonly<Record<string, string>>>;
};

/** One process: the files that it runs, one after the other. */
export type TestJob = { name: string; files: readonly string[]; preload: readonly string[]; seconds: number };
