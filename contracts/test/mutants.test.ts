import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { contractsDirectory } from "../scripts/forge.ts";
import { mutations } from "../scripts/mutations.ts";

test("every mutation of npm run mutants:contracts matches exactly one place", async () => {
  assert.ok(mutations.length >= 15);
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length);
  for (const { name, file, search, replace } of mutations) {
    const source = await readFile(join(contractsDirectory, "src", file), "utf8");
    assert.equal(source.split(search).length - 1, 1, `"${name}" must match once in ${file}: ${search}`);
    assert.notEqual(search, replace, name);
  }
});
