import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { buildArtifacts, generatedPath } from "../scripts/artifacts.ts";
import { runUnlessPassed } from "../scripts/passed.ts";

test("the checked-in artifacts match the compiled contracts", async (t) => {
  const outcome = await runUnlessPassed("build", async () => {
    const built = await buildArtifacts();
    assert.equal(built.size, 4);
    for (const [name, content] of built) {
      const found = await readFile(generatedPath(name), "utf8");
      assert.ok(found === content, `${name} is out of date: run node contracts/scripts/artifacts.ts`);
    }
  });
  t.diagnostic(`forge build: ${outcome}`);
});
