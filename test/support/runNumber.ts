import process from "node:process";

/** Names the environment variable with the number of a run of `npm run test:deep`. */
export const RUN_VARIABLE = "TRIBUTARY_DEEP_RUN";

/** Whether `npm run test:deep` runs this. A file that asks is run by it, without the samples of `npm test`. */
export const isDeepRun = process.env[RUN_VARIABLE] !== undefined;

/** The reason to skip a test that is too long for every commit, and has a sample there. */
export const onlyDeep: string | false = isDeepRun ? false : "npm run test:deep runs it";
