import { databases } from "../support/database.ts";
import { openCrashSite } from "../crash/databases.ts";
import type { End } from "../crash/fuse.ts";
import { openScenario } from "../crash/scenario.ts";
import { compared, sweep, sweepSleeps } from "../crash/sweep.ts";
import { Random } from "./random.ts";

/** Walks in which a process ends, and the one that follows it too. */
const TWICE = 100;
/** More of them would only hide the first ones. */
const DIFFERENCES_MAX = 5;
/** About as many steps as a walk has. */
const STEPS = 340;

/** Ends a process before and after every step of the road, then two in a row at random ones; 0 when each walk turned out the same. */
export async function sweepCrashes(seed: number, say: (line: string) => void): Promise<number> {
  const random = new Random(seed);
  let differing = 0;
  for (const database of databases) {
    const scenario = await openScenario(await openCrashSite(database));
    const tell = (what: string, differences: readonly string[]) => {
      differing += differences.length;
      say(`${database}: ${what}, ${differences.length} turned out otherwise`);
      for (const difference of differences.slice(0, DIFFERENCES_MAX)) say(difference);
    };
    for (const moment of ["before", "after"] as const) {
      const { ends, differences } = await sweep(scenario, { among: "all", moment });
      tell(`${ends} ends ${moment} a step`, differences);
    }
    const { outcome } = await scenario.walk();
    const differences: string[] = [];
    for (let walk = 0; walk < TWICE; walk += 1) {
      const end = (): End => ({
        among: "all",
        nth: 1 + random.below(STEPS),
        moment: random.pick(["before", "after"]) ?? "after",
      });
      const ends = [end(), end()];
      const where = ends.map(({ moment, nth }) => `${moment} step ${nth}`).join(", then ");
      differences.push(...(await compared(outcome, () => scenario.walk(...ends), where)).differences);
    }
    tell(`${TWICE} times two ends`, differences);
    // The embedded database has one session, which a process that sleeps in it would keep from the other.
    if (database === "postgres") {
      const slept = await sweepSleeps(scenario, {});
      tell(`${slept.ends} sleeps`, slept.differences);
    }
    await scenario.close();
  }
  return differing === 0 ? 0 : 1;
}
