import { deepEqual, equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isDeepRun, onlyDeep } from "../support/runNumber.ts";
import { readCorpus, readMutantSeeds } from "./readCorpus.ts";
import { plantedBugs } from "../plantedBugs/plantedBugs.ts";
import { mutants } from "./mutants.ts";

const run = promisify(execFile);
const root = new URL("../../", import.meta.url);
const main = fileURLToPath(new URL("main.ts", import.meta.url));
const mutantScript = fileURLToPath(new URL("runMutant.ts", import.meta.url));
/** `npm run test:deep` runs 300, and the long seeds of the corpus. */
const SEEDS = isDeepRun ? 2 : 1;

async function simulate(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [main, ...args], { maxBuffer: 64_000_000 }).catch(
    (error: { stdout?: string; stderr?: string }) => ({ stdout: `${error.stdout ?? ""}${error.stderr ?? ""}` }),
  );
  return stdout;
}

/** The test takes two minutes on an idle machine; a busy one may need far longer. */
const TIMEOUT_MS = 1_800_000;

/** The seed of the compared traces. One process runs it first, the other one after other seeds. */
const COMPARED_SEED = 2;

test(
  `${SEEDS} seeds and the corpus hold, and one seed leaves the same trace in two processes`,
  { timeout: TIMEOUT_MS },
  async (t) => {
    const [alone, afterOthers] = await Promise.all([
      simulate("--seed", String(COMPARED_SEED), "--corpus", ...(isDeepRun ? [] : ["--short"])),
      simulate("--from", String(COMPARED_SEED - SEEDS + 1), "--seeds", String(SEEDS), "--verbose"),
    ]);
    await t.test(`${SEEDS} seeds hold under all faults`, () => {
      ok(afterOthers.includes("violations 0"), afterOthers);
      ok(afterOthers.includes(`faults met in ${SEEDS} seeds`), afterOthers);
    });
    await t.test("the seeds of the corpus hold", () => {
      for (const seed of readCorpus({ hasLong: isDeepRun }))
        ok(new RegExp(`^seed ${seed}: .*: holds$`, "m").test(alone), alone);
    });
    await t.test("a seed leaves the same trace alone and after other seeds", () => {
      const line = new RegExp(`^seed ${COMPARED_SEED}[ :].*$`, "m");
      ok(line.test(alone), alone);
      equal(line.exec(afterOthers)?.[0], line.exec(alone)?.[0]);
    });
  },
);

test("the text that each planted bug replaces occurs once", () => {
  const lost = [...mutants, ...plantedBugs].flatMap(({ name, patches }) =>
    patches
      .filter(({ path, search }) => readFileSync(new URL(path, root), "utf8").split(search).length !== 2)
      .map(({ path }) => `${name} in ${path}`),
  );
  deepEqual(lost, []);
});

test("each named seed is one of a planted bug, and each bug with a scene has one", () => {
  const named = readMutantSeeds();
  deepEqual(
    [...named.keys()].filter((name) => !mutants.some((mutant) => mutant.name === name)),
    [],
  );
  deepEqual(
    mutants.filter(({ name, scene }) => scene !== undefined && !named.has(name)).map(({ name }) => name),
    [],
  );
});

test("a simulation finds a planted bug", { skip: onlyDeep, timeout: TIMEOUT_MS }, async () => {
  const { stdout } = await run(process.execPath, [mutantScript, "hash-only-identity", "--seeds", "20"]);
  ok(/"after":/.test(stdout), stdout);
});
