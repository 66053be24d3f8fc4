import assert from "node:assert/strict";
import { test } from "node:test";
import { runForge } from "../scripts/forge.ts";
import { runUnlessPassed } from "../scripts/passed.ts";

// A minimum, because a build without some test files would pass silently.
const testsMin = 150;

test("the Solidity tests pass", async (t) => {
  const outcome = await runUnlessPassed("tests", async () => {
    const { exitCode, output } = await runForge(["test"]);
    assert.equal(exitCode, 0, output);
    const passed = Number(/: (\d+) tests passed, 0 failed, 0 skipped/.exec(output)?.[1]);
    t.diagnostic(`${passed} tests passed`);
    assert.ok(passed >= testsMin, output);
  });
  t.diagnostic(`forge test: ${outcome}`);
});

test("the contracts are formatted", async () => {
  const { exitCode, output } = await runForge(["fmt", "--check", "src", "test", "proofs"]);
  assert.equal(exitCode, 0, output);
});
