import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { plantedBugs } from "../plantedBugs/plantedBugs.ts";
import { mutants } from "../sim/mutants.ts";

test("every planted bug finds its text exactly once, so that an edit of the code leaves none behind", () => {
  const unmatched = [...mutants, ...plantedBugs].flatMap(({ name, patches }) =>
    patches
      .filter(({ path, search }) => {
        const source = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
        return source.split(search).length !== 2;
      })
      .map(({ path }) => `${name} in ${path}`),
  );
  assert.deepEqual(unmatched, []);
});
