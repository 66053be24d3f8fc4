import { isTest, lineNumberAt, type Codebase, type Violation } from "./codebase.ts";

// A number of blocks means another time when a network changes its block time. Constants that mean a time are times,
// and become blocks by src/watch/blockTime.ts. Those that bound the work of one step are listed here.

const BLOCK_COUNT = /\bconst ((?:[A-Z0-9]+_)*BLOCKS(?:_[A-Z0-9]+)*)\b/g;

/** Folders whose constants are facts of a kind of chain, of a network, or of the local world. */
const EXEMPT_FOLDERS = ["src/chain/", "src/config/", "src/dev/"] as const;

type WorkBound = { readonly path: string; readonly name: string; readonly reason: string };

const WORK_BOUNDS: readonly WorkBound[] = [
  { path: "src/watch/search/rangeSize.ts", name: "BLOCKS_START", reason: "the size of the first request" },
  { path: "src/watch/search/rangeSize.ts", name: "BLOCKS_MAX", reason: "the largest size of a request" },
  {
    path: "src/watch/reconcile/searchDifference.ts",
    name: "SEARCH_BLOCKS_START",
    reason: "the size of the first request of a search",
  },
  {
    path: "src/watch/search/readPart.ts",
    name: "RANGE_BLOCKS_START",
    reason: "the size of the first request of a search",
  },
  { path: "src/watch/reread/recheckSuspectBlocks.ts", name: "SUSPECT_BLOCKS_MAX", reason: "the length of a queue" },
  { path: "src/watch/store/store.ts", name: "PRUNED_BLOCKS_MAX", reason: "the rows of one statement" },
  { path: "src/operator/rescanTarget.ts", name: "BLOCKS_MAX", reason: "the largest number that an operator may type" },
];

export function blockCountsAreNoTimes(codebase: Codebase, bounds: readonly WorkBound[] = WORK_BOUNDS): Violation[] {
  const used = new Set<WorkBound>();
  const found = codebase.sources.flatMap((source): Violation[] => {
    const { path, text } = source;
    if (!path.startsWith("src/") || isTest(path) || EXEMPT_FOLDERS.some((folder) => path.startsWith(folder))) return [];
    return [...text.matchAll(BLOCK_COUNT)].flatMap((match): Violation[] => {
      const bound = bounds.find((each) => each.path === path && each.name === match[1]);
      if (bound) {
        used.add(bound);
        return [];
      }
      const message = `${match[1]} counts blocks. Write the time that it means, and use blocksIn of src/watch/blockTime.ts; or list it with its reason in test/architecture/blockCounts.ts.`;
      return [{ path, line: lineNumberAt(text, match.index), message }];
    });
  });
  const stale = bounds.filter((bound) => !used.has(bound));
  return [
    ...found,
    ...stale.map(({ path, name }) => ({
      path,
      message: `It has no constant ${name}. Remove it from test/architecture/blockCounts.ts.`,
    })),
  ];
}
