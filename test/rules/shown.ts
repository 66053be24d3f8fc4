import { globSync, readFileSync } from "node:fs";
import { RULES, type Rule } from "./rules.ts";

// Which tests show which promise, by the numbers that their names begin with: "D18 …", "§4.2.5, D18 …", "31 22 §4.2.3 …", where the
// numbers before are those of faults that a test guards against.

export type Shown = { readonly rule: Rule; readonly tests: readonly TestName[] };
export type TestName = { readonly file: string; readonly name: string };

const PLACES = [
  "src/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
  "test/**/*.test.ts",
  "test/support/everyOperation.ts",
  "test/support/survivesFailures.ts",
];
const TITLE = /\b(?:test|it|describe)\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;
const NUMBERS = /^(?:[A-L]?\d+ )*((?:§\d+(?:\.\d+)*|D\d+)(?:(?:, | )(?:§\d+(?:\.\d+)*|D\d+))*)[: ]/;

/** Each promise with the tests that name it, and the names that name a promise that does not exist. */
export function readShown(root: string): { shown: Shown[]; strays: TestName[] } {
  const named = globSync(PLACES, { cwd: root })
    .filter((file) => !file.includes("node_modules"))
    .toSorted()
    .flatMap((file) => testsOf(file, readFileSync(`${root}/${file}`, "utf8")));
  const known = new Set(RULES.map(({ id }) => id));
  const shown = RULES.map((rule) => ({
    rule,
    tests: named.filter(({ ids }) => ids.includes(rule.id)).map(({ file, name }) => ({ file, name })),
  }));
  const strays = named.filter(({ ids }) => ids.some((id) => !known.has(id) && !isBeyond(id)));
  return { shown, strays };
}

/** Events and webhooks have numbers too; they are no part of the request interface. */
function isBeyond(id: string): boolean {
  return id === "D32" || id === "D33";
}

function testsOf(file: string, source: string): (TestName & { ids: string[] })[] {
  return [...source.matchAll(TITLE)].flatMap(([, , name = ""]) => {
    const numbers = NUMBERS.exec(name)?.[1];
    return numbers === undefined ? [] : [{ file, name, ids: numbers.split(/, | /) }];
  });
}
