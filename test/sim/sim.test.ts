import { deepEqual, equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readCorpus } from "./readCorpus.ts";
import { mutants } from "./mutants.ts";

const run = promisify(execFile);
const root = new URL("../../", import.meta.url);
const main = fileURLToPath(new URL("main.ts", import.meta.url));
const mutantScript = fileURLToPath(new URL("runMutant.ts", import.meta.url));
/** Half of the seeds in each of two processes. `npm run test:deep` runs 300. */
const SEEDS = 20;

async function simulate(...given: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [main, ...given], { maxBuffer: 64_000_000 }).catch(
    (error: { stdout?: string; stderr?: string }) => ({ stdout: `${error.stdout ?? ""}${error.stderr ?? ""}` }),
  );
  return stdout;
}

/** Two minutes where nothing else runs; a busy machine may take its time. */
const TIMEOUT_MS = 1_800_000;

const half = SEEDS / 2;
/** The seed whose traces are compared: it comes first in one process, and after others in the other one. */
const COMPARED_SEED = 7;

test(
  `${SEEDS} seeds and all that ever failed hold, and one leaves the same trace in two processes`,
  { timeout: TIMEOUT_MS },
  async (t) => {
    const failed = readCorpus().map(({ seed }) => seed);
    const [alone, afterOthers, later] = await Promise.all([
      simulate("--seed", [COMPARED_SEED, ...failed].join(",")),
      simulate("--from", "1", "--seeds", String(half), "--verbose"),
      simulate("--from", String(1 + half), "--seeds", String(half)),
    ]);
    await t.test(`${SEEDS} seeds hold whatever goes wrong`, () => {
      for (const output of [afterOthers, later]) {
        ok(output.includes("violations 0"), output);
        ok(output.includes(`faults met in ${half} seeds`), output);
      }
    });
    await t.test("all that ever failed hold", () => {
      for (const seed of failed) ok(new RegExp(`^seed ${seed}: .*: holds$`, "m").test(alone), alone);
    });
    await t.test("one seed leaves the same trace alone and after others", () => {
      const line = new RegExp(`^seed ${COMPARED_SEED}: .*$`, "m");
      ok(line.test(alone), alone);
      equal(line.exec(afterOthers)?.[0], line.exec(alone)?.[0]);
    });
  },
);

test("every planted bug still has its place", () => {
  const lost = mutants.flatMap(({ name, patches }) =>
    patches
      .filter(({ path, search }) => readFileSync(new URL(path, root), "utf8").split(search).length !== 2)
      .map(({ path }) => `${name} in ${path}`),
  );
  deepEqual(lost, []);
});

test("a planted bug is found", { timeout: TIMEOUT_MS }, async () => {
  const { stdout } = await run(process.execPath, [mutantScript, "hash-only-identity", "--seeds", "20"]);
  ok(/"after":/.test(stdout), stdout);
});
