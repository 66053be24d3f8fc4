export type Patch = { path: string; search: string; replace: string };

export type Mutant = {
  name: string;
  /** The bug in one sentence. */
  bug: string;
  patches: readonly Patch[];
  /** Statements that remove the database's own protection. */
  statements?: readonly string[];
  /** Only a seed with a bridge can find it. */
  isBridged?: boolean;
  /** Only a seed with this scene is tried. */
  scene?: string;
};
