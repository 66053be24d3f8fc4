import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { loopsOf } from "../../src/loops/run.ts";
import { runLoop } from "../../src/loops/loop.ts";
import { databases } from "../support/database.ts";
import { openCrashSite } from "./databases.ts";
import { Crashed } from "./fuse.ts";
import { openScenario, type Scenario } from "./scenario.ts";
import { sweep, sweepSleeps, type SweepOptions } from "./sweep.ts";

// What a process leaves behind changes only with its effects, so the end after each of them is every end there is. The others
// are walked through as a sample here, and all of them by `npm run chaos -- crash`.
const SWEEPS: Record<(typeof databases)[number], SweepOptions[]> = {
  pglite: [
    { among: "effects", moment: "after" },
    { among: "all", moment: "before", first: 5, stride: 61 },
  ],
  postgres: [
    { among: "effects", moment: "after", first: 2, stride: 6 },
    { among: "all", moment: "after", first: 11, stride: 83 },
  ],
};

for (const kind of databases) {
  describe(`H65 a process that ends on ${kind}`, () => {
    let scenario: Scenario;
    before(async () => {
      scenario = await openScenario(await openCrashSite(kind));
    });
    after(() => scenario.close());

    for (const options of SWEEPS[kind]) {
      const steps = options.among === "all" ? "step" : "effect";
      const every = options.stride === undefined ? `each ${steps}` : `every ${options.stride}th ${steps}`;
      test(`${options.moment} ${every}: the next one makes the same of it`, async () => {
        const { ends, differences } = await sweep(scenario, options);
        assert.equal(differences.join("\n"), "");
        assert.ok(ends > 3, `only ${ends} ends`);
      });
    }

    if (kind === "postgres") {
      test("a process that sleeps while another one does everything adds nothing when it wakes", async () => {
        const { ends, differences } = await sweepSleeps(scenario, { first: 2, stride: 7 });
        assert.equal(differences.join("\n"), "");
        assert.ok(ends > 3, `only ${ends} sleeps`);
      });
    }

    test("no loop outlives its process", async () => {
      for (const nth of [3, 30, 90]) {
        const process = await scenario.begin({ among: "all", nth, moment: "after" });
        const { signal } = new AbortController();
        const ends = await Promise.allSettled(
          loopsOf(process.world).map((loop) => runLoop(process.world, loop, signal)),
        );
        assert.ok(ends.every((end) => end.status === "rejected" && end.reason instanceof Crashed));
        await process.drop();
      }
    });
  });
}
