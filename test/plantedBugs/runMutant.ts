import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { plantedBugs } from "./plantedBugs.ts";

// Plants bugs in the code of crossings and of Solana, and runs the test that must find each:
// node test/plantedBugs/runMutant.ts [name …]

/** Not the line of a file, which also fails when it does not load. */
const FAILED_TEST = /^\s*✖ (?!.*\.test\.ts).+ms\)$/;

const names = process.argv.slice(2);
const unknown = names.find((typed) => plantedBugs.every(({ name }) => name !== typed));
if (unknown !== undefined)
  throw new Error(`There is no planted bug ${unknown}: ${plantedBugs.map(({ name }) => name).join(", ")}`);
const root = fileURLToPath(new URL("../../", import.meta.url));
const chosen = plantedBugs.filter(({ name }) => names.length === 0 || names.includes(name));
for (const { name, test } of chosen) {
  const started = process.hrtime.bigint();
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--import", "./test/plantedBugs/plantBug.ts", "--test", "--test-isolation=none", test],
    { cwd: root, env: { ...process.env, TRIBUTARY_PLANTED_BUG: name }, encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  const seconds = Number((process.hrtime.bigint() - started) / 1_000_000_000n);
  const failures = stdout.split("\n").filter((line) => FAILED_TEST.test(line));
  const isFound = status !== 0 && failures.length > 0;
  if (!isFound) process.exitCode = 1;
  process.stdout.write(`${name.padEnd(24)} ${isFound ? failures[0]?.trim() : "— missed"} (${seconds} s)\n`);
}
