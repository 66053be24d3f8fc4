import { databases } from "../support/database.ts";
import { openCrashDatabase } from "../crash/crashDatabase.ts";
import type { CrashPoint } from "../crash/crashInjector.ts";
import { openScenario } from "../crash/scenario.ts";
import { compareRun, testEveryCrashPoint, testEveryPausePoint } from "../crash/testEveryCrashPoint.ts";
import { SeededRandom } from "./seededRandom.ts";

/** Walks in which a process ends, and the one that follows it too. */
const DOUBLE_CRASH_RUNS = 100;
/** More of them would only hide the first ones. */
const DIFFERENCES_MAX = 5;
/** About as many steps as a walk has. */
const STEPS = 340;

/** Ends a process before and after every step of the road, then two in a row at random ones; 0 when each walk turned out the same. */
export async function runCrashes(seed: number, log: (line: string) => void): Promise<number> {
  const random = new SeededRandom(seed);
  let differing = 0;
  for (const database of databases) {
    const scenario = await openScenario(await openCrashDatabase(database));
    const report = (what: string, differences: readonly string[]) => {
      differing += differences.length;
      log(`${database}: ${what}, ${differences.length} turned out otherwise`);
      for (const difference of differences.slice(0, DIFFERENCES_MAX)) log(difference);
    };
    for (const moment of ["before", "after"] as const) {
      const { interruptions, differences } = await testEveryCrashPoint(scenario, { scope: "all", moment });
      report(`${interruptions} ends ${moment} a step`, differences);
    }
    const { outcome } = await scenario.runWithCrashes();
    const differences: string[] = [];
    for (let walk = 0; walk < DOUBLE_CRASH_RUNS; walk += 1) {
      const drawCrashPoint = (): CrashPoint => ({
        scope: "all",
        nth: 1 + random.below(STEPS),
        moment: random.pick(["before", "after"]) ?? "after",
      });
      const ends = [drawCrashPoint(), drawCrashPoint()];
      const where = ends.map(({ moment, nth }) => `${moment} step ${nth}`).join(", then ");
      differences.push(...(await compareRun(outcome, () => scenario.runWithCrashes(...ends), where)).differences);
    }
    report(`${DOUBLE_CRASH_RUNS} times two ends`, differences);
    // The embedded database has one session, which a process that sleeps in it would keep from the other.
    if (database === "postgres") {
      const slept = await testEveryPausePoint(scenario, {});
      report(`${slept.interruptions} sleeps`, slept.differences);
    }
    await scenario.close();
  }
  return differing === 0 ? 0 : 1;
}
