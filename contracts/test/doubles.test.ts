import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { buildDoubles, doublesPath } from "../scripts/doubles.ts";
import { runUnlessPassed } from "../scripts/passed.ts";

test("the checked-in doubles of the bridge match the compiled contracts", async (t) => {
  const outcome = await runUnlessPassed("doubles", async () => {
    const found = await readFile(doublesPath, "utf8");
    assert.ok(found === (await buildDoubles()), "they are out of date: run node contracts/scripts/doubles.ts");
  });
  t.diagnostic(`forge build: ${outcome}`);
});
