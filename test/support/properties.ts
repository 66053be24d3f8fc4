import process from "node:process";
import fc from "fast-check";
import { isDeepRun, RUN_VARIABLE } from "./runNumber.ts";

// Random values for tests. `npm test` draws the same ones every time, so that a failure belongs to the change that it
// appears with. Each run of `npm run test:deep` has a number, and draws the values of that number.

fc.configureGlobal({ seed: Number(process.env[RUN_VARIABLE] ?? 1) });

/** How many values to draw: all of them in the deep tests, and a fifth for every commit. */
export function drawn(numRuns: number): number {
  return isDeepRun ? numRuns : Math.ceil(numRuns / 5);
}

export { fc };
