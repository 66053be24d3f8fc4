import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { unplantable } from "../../scripts/tests/reportPlantedBugs.ts";
import { contractsDirectory } from "../scripts/forge.ts";
import { mutations } from "../scripts/mutations.ts";

test("every mutation of npm run mutants:contracts matches exactly one place", () => {
  assert.ok(mutations.length >= 15);
  assert.deepEqual(
    unplantable(mutations, ({ file }) => readFileSync(join(contractsDirectory, "src", file), "utf8")),
    [],
  );
});
