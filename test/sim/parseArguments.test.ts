import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

// The arguments after `npm run sim --` and `npm run sim:mutants --`.

const run = (file: string, args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL(file, import.meta.url)), ...args],
    { encoding: "utf8" },
  );
  return { status, stdout, stderr };
};

const REFUSED: [file: string, words: string[], sentence: string][] = [
  ["main.ts", ["--sedes", "3"], "Unknown option '--sedes'."],
  ["main.ts", ["--seeds"], "Option '--seeds <value>' argument missing."],
  ["main.ts", ["--seeds=many"], "--seeds must be a whole number, not many."],
  ["main.ts", ["--seed", "7,x"], "--seed must be a whole number, not x."],
  ["main.ts", ["--trace=yes"], "Option '--trace' does not take an argument."],
  ["main.ts", ["300"], "300 is one argument too many."],
  ["runMutants.ts", ["--sed"], "Unknown option '--sed'."],
  ["runMutants.ts", ["--seeds=-1"], "--seeds must be a whole number, not -1."],
  ["runMutants.ts", ["nonsense"], "There is no planted bug nonsense."],
];

for (const [file, args, sentence] of REFUSED) {
  test(`${file} ${args.join(" ")} is refused in one sentence, with the usage`, () => {
    const { status, stdout, stderr } = run(file, args);
    assert.deepEqual([status, stdout], [2, ""]);
    const [firstLine, blankLine, usage = ""] = stderr.split("\n");
    assert.deepEqual([firstLine, blankLine], [sentence, ""]);
    assert.match(usage, /^Usage: npm run sim/);
  });
}

for (const file of ["main.ts", "runMutants.ts"]) {
  test(`${file} --help shows the usage`, () => {
    for (const flag of ["--help", "-h"]) {
      const { status, stdout, stderr } = run(file, [flag]);
      assert.deepEqual([status, stderr], [0, ""]);
      assert.match(stdout, /^Usage: npm run sim.* -- \[--seeds=\d+\]/);
    }
  });
}
