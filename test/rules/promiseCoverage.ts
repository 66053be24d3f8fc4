import { globSync, readFileSync } from "node:fs";
import { API_PROMISES, type ApiPromise } from "./apiPromises.ts";

// Maps promises to tests by the ids at the start of test titles: "D18 …", "§4.2.5, D18 …". No other code begins a
// title.

export type PromiseCoverage = { readonly promise: ApiPromise; readonly tests: readonly NamedTest[] };
export type NamedTest = { readonly file: string; readonly name: string };

const TEST_FILES = [
  "src/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
  "test/**/*.test.ts",
  "test/support/operationTests.ts",
  "test/support/testDatabaseFailures.ts",
];
const TITLE = /\b(?:test|it|describe)\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;
const PROMISE_IDS = /^((?:§\d+(?:\.\d+)*|D\d+a?)(?:(?:, | )(?:§\d+(?:\.\d+)*|D\d+a?))*)[: ]/;

/** A letter with a number, or a number before an id: a reader finds no definition of it. */
const UNDEFINED_CODE = /^(?:[A-CE-Z]\d+\b|\d+ (?=§|D\d|\d+ ))|\([A-CE-Z]\d+\)$/;

/** Returns each promise with its tests, and the tests whose ids match no promise or are codes that nothing defines. */
export function readPromiseCoverage(root: string): { shown: PromiseCoverage[]; strays: NamedTest[] } {
  const named = globSync(TEST_FILES, { cwd: root })
    .filter((file) => !file.includes("node_modules"))
    .toSorted()
    .flatMap((file) => testsOf(file, readFileSync(`${root}/${file}`, "utf8")));
  const known = new Set(API_PROMISES.map(({ id }) => id));
  const coverage = API_PROMISES.map((promise) => ({
    promise,
    tests: named.filter(({ ids }) => ids.includes(promise.id)).map(({ file, name }) => ({ file, name })),
  }));
  const unknownIds = named.filter(({ ids }) => ids.some((id) => !known.has(id) && !isOutsideRequestApi(id)));
  return { shown: coverage, strays: unknownIds };
}

/** Ids of events and webhooks, which are outside the request interface. */
function isOutsideRequestApi(id: string): boolean {
  return id === "D32" || id === "D33";
}

function testsOf(file: string, source: string): (NamedTest & { ids: string[] })[] {
  return [...source.matchAll(TITLE)].flatMap(([, , name = ""]) => {
    const numbers = PROMISE_IDS.exec(name)?.[1];
    if (numbers !== undefined) return [{ file, name, ids: numbers.split(/, | /) }];
    const code = UNDEFINED_CODE.exec(name)?.[0].trim();
    return code === undefined ? [] : [{ file, name, ids: [code] }];
  });
}
