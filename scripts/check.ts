/**
 * Runs every check that needs no test, cheapest first, under one heading each. Lists the failed ones at the end. It
 * continues after a failure, because a developer needs the whole list.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";

const STEPS: readonly { name: string; script: string; args?: readonly string[] }[] = [
  { name: "format", script: "format:check" },
  { name: "lint", script: "lint" },
  { name: "types", script: "types" },
  { name: "architecture", script: "architecture" },
  { name: "dead code", script: "deadcode" },
  { name: "page size", script: "size" },
  { name: "contracts have passed", script: "passed:contracts" },
  { name: "promises", script: "rules", args: ["--missing"] },
];

const failed: string[] = [];
for (const step of STEPS) {
  console.log(`\n== ${step.name}`);
  const startedMs = performance.now();
  const run = spawnSync("npm", ["run", "--silent", step.script, "--", ...(step.args ?? [])], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const passed = run.status === 0;
  console.log(`-- ${step.name}: ${passed ? "ok" : "FAILED"} (${seconds} s)`);
  if (!passed) failed.push(step.name);
}

if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(", ")}.`);
  process.exitCode = 1;
}
