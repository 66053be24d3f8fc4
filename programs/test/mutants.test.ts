import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { unplantable } from "../../scripts/tests/reportPlantedBugs.ts";
import { readProgram } from "../scripts/build.ts";
import { isCompilerInstalled, programsDirectory } from "../scripts/compile.ts";
import { compileMutant, findFailure } from "../scripts/mutants.ts";
import { mutations } from "../scripts/mutations.ts";

const skip = (await isCompilerInstalled()) ? false : "clang-19 is not installed, so no bug was planted";

/** All of them run in the deep tests. */
const SAMPLE = [
  ["any account of the payout wallet", "settleThefts"],
  ["the delegate is not compared", "bridgeThefts"],
] as const;

test("every mutation of npm run mutants:programs matches exactly one place", () => {
  assert.ok(mutations.length >= 100);
  assert.deepEqual(
    unplantable(mutations, ({ file }) => readFileSync(join(programsDirectory, "src", file), "utf8")),
    [],
  );
});

test("the committed program passes what a bug must fail", async () => {
  assert.equal(await findFailure(await readProgram("inbox"), ["settleThefts", "bridgeThefts"]), undefined);
});

for (const [name, file] of SAMPLE) {
  test(`a planted bug is caught: ${name}`, { skip }, async () => {
    const mutation = mutations.find((each) => each.name === name) ?? assert.fail();
    assert.notEqual(await findFailure(await compileMutant(mutation), [file]), undefined);
  });
}
