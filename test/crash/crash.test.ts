import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createLoops } from "../../src/loops/runLoops.ts";
import { runLoop } from "../../src/loops/loop.ts";
import { databases, thoroughDatabase } from "../support/database.ts";
import { openCrashDatabase } from "./crashDatabase.ts";
import { onlyDeep } from "../support/runNumber.ts";
import { ProcessCrashed } from "./crashInjector.ts";
import { openScenario, type Scenario } from "./scenario.ts";
import { testEveryCrashPoint, testEveryPausePoint, type CrashPointOptions } from "./testEveryCrashPoint.ts";

// Only a process's effects change what it leaves behind, so a crash after each effect covers every crash. This test
// runs a sample of all crash points; `npm run test:deep` runs all of them.
const CRASH_POINT_RUNS: Record<(typeof databases)[number], CrashPointOptions[]> = {
  pglite: [
    { scope: "effects", moment: "after", first: 1, stride: 20 },
    { scope: "all", moment: "before", first: 5, stride: 149 },
  ],
  postgres: [
    { scope: "effects", moment: "after", first: 2, stride: 23 },
    { scope: "all", moment: "after", first: 11, stride: 149 },
  ],
};

for (const kind of databases) {
  // `npm run test:deep` ends one after every step on both.
  const skip = kind === thoroughDatabase ? false : onlyDeep;
  describe(`a process that ends on ${kind}`, { skip }, () => {
    let scenario: Scenario;
    before(async () => {
      scenario = await openScenario(await openCrashDatabase(kind));
    });
    after(() => scenario.close());

    for (const options of CRASH_POINT_RUNS[kind]) {
      const steps = options.scope === "all" ? "step" : "effect";
      const every = options.stride === undefined ? `each ${steps}` : `every ${options.stride}th ${steps}`;
      test(`${options.moment} ${every}: the next process reaches the same outcome`, async () => {
        const { interruptions, differences } = await testEveryCrashPoint(scenario, options);
        assert.equal(differences.join("\n"), "");
        assert.ok(interruptions > 3, `only ${interruptions} crashes`);
      });
    }

    if (kind === "postgres") {
      test(
        "a process that pauses while another one finishes adds nothing when it resumes",
        { skip: onlyDeep },
        async () => {
          const { interruptions, differences } = await testEveryPausePoint(scenario, { first: 2, stride: 53 });
          assert.equal(differences.join("\n"), "");
          assert.ok(interruptions > 3, `only ${interruptions} pauses`);
        },
      );
    }

    test("no loop outlives its process", async () => {
      for (const nth of [3, 30, 90]) {
        const process = await scenario.startProcess({ scope: "all", nth, moment: "after" });
        const { signal } = new AbortController();
        const ends = await Promise.allSettled(
          createLoops(process.world).map((loop) => runLoop(process.world, loop, signal)),
        );
        assert.ok(ends.every((end) => end.status === "rejected" && end.reason instanceof ProcessCrashed));
        await process.close();
      }
    });
  });
}
