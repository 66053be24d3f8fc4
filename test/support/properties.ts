import process from "node:process";
import fc from "fast-check";
import { RUN_VARIABLE } from "./runNumber.ts";

// Random values for tests. `npm test` draws the same ones every time, so that a failure belongs to the change that it
// appears with. Each run of `npm run test:deep` has a number, and draws the values of that number.

fc.configureGlobal({ seed: Number(process.env[RUN_VARIABLE] ?? 1) });

export { fc };
