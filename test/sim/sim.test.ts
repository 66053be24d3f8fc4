import { deepEqual, equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readSeeds } from "./corpus.ts";
import { mutants } from "./mutants.ts";

const run = promisify(execFile);
const root = new URL("../../", import.meta.url);
const main = fileURLToPath(new URL("main.ts", import.meta.url));
const mutate = fileURLToPath(new URL("mutate.ts", import.meta.url));
/** Half of the seeds in each of two processes. */
const SEEDS = 300;

async function simulate(...given: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [main, ...given], { maxBuffer: 64_000_000 }).catch(
    (error: { stdout?: string; stderr?: string }) => ({ stdout: `${error.stdout ?? ""}${error.stderr ?? ""}` }),
  );
  return stdout;
}

/** Two minutes where nothing else runs; a busy machine may take its time. */
const TIMEOUT_MS = 1_800_000;

test("300 seeds and all that ever failed hold whatever goes wrong", { timeout: TIMEOUT_MS }, async () => {
  const half = SEEDS / 2;
  const runs = await Promise.all([
    simulate("--from", "1", "--seeds", String(half)),
    simulate("--from", String(1 + half), "--seeds", String(half)),
    ...readSeeds().map(({ seed }) => simulate("--seed", String(seed))),
  ]);
  for (const output of runs) ok(/violations 0|: holds/.test(output), output);
});

test("one seed leaves the same trace in two processes, alone and after others", { timeout: TIMEOUT_MS }, async () => {
  const [alone, afterOthers] = await Promise.all([
    simulate("--seed", "7"),
    simulate("--from", "5", "--seeds", "3", "--verbose"),
  ]);
  const line = /^seed 7: .*$/m;
  equal(line.exec(alone)?.[0], line.exec(afterOthers)?.[0]);
  ok(line.test(alone), alone);
});

test("every planted bug still has its place", () => {
  const lost = mutants.flatMap(({ name, patches }) =>
    patches
      .filter(({ path, search }) => readFileSync(new URL(path, root), "utf8").split(search).length !== 2)
      .map(({ path }) => `${name} in ${path}`),
  );
  deepEqual(lost, []);
});

test("a planted bug is found", { timeout: TIMEOUT_MS }, async () => {
  const { stdout } = await run(process.execPath, [mutate, "hash-only-identity", "--seeds", "20"]);
  ok(/"after":/.test(stdout), stdout);
});
