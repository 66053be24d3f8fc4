import { databases } from "../support/database.ts";
import { openCrashDatabase } from "../crash/crashDatabase.ts";
import type { CrashPoint } from "../crash/crashInjector.ts";
import { openScenario } from "../crash/scenario.ts";
import { compareRun, testEveryCrashPoint, testEveryPausePoint } from "../crash/testEveryCrashPoint.ts";
import { SeededRandom } from "./seededRandom.ts";

/** Runs with two crashes in a row. */
const DOUBLE_CRASH_RUNS = 100;
/** Printed differences; more would hide the first ones. */
const DIFFERENCES_MAX = 5;
/** The approximate number of steps of a run. */
const STEPS = 340;

/**
 * Crashes before and after every step of the road, then twice at random steps; returns 0 when every outcome is equal.
 */
export async function runCrashes(seed: number, log: (line: string) => void): Promise<number> {
  const random = new SeededRandom(seed);
  let differing = 0;
  for (const database of databases) {
    const scenario = await openScenario(await openCrashDatabase(database));
    const report = (description: string, differences: readonly string[]) => {
      differing += differences.length;
      log(`${database}: ${description}, ${differences.length} differences`);
      for (const difference of differences.slice(0, DIFFERENCES_MAX)) log(difference);
    };
    for (const moment of ["before", "after"] as const) {
      const { interruptions, differences } = await testEveryCrashPoint(scenario, { scope: "all", moment });
      report(`${interruptions} crashes ${moment} a step`, differences);
    }
    const { outcome } = await scenario.runWithCrashes();
    const differences: string[] = [];
    for (let run = 0; run < DOUBLE_CRASH_RUNS; run += 1) {
      const drawCrashPoint = (): CrashPoint => ({
        scope: "all",
        nth: 1 + random.below(STEPS),
        moment: random.pick(["before", "after"]) ?? "after",
      });
      const crashes = [drawCrashPoint(), drawCrashPoint()];
      const location = crashes.map(({ moment, nth }) => `${moment} step ${nth}`).join(", then ");
      differences.push(...(await compareRun(outcome, () => scenario.runWithCrashes(...crashes), location)).differences);
    }
    report(`${DOUBLE_CRASH_RUNS} double crashes`, differences);
    // A paused process would block PGlite's only session for the other process.
    if (database === "postgres") {
      const paused = await testEveryPausePoint(scenario, {});
      report(`${paused.interruptions} pauses`, paused.differences);
    }
    await scenario.close();
  }
  return differing === 0 ? 0 : 1;
}
