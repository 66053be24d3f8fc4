/** Fails when forge has not passed with these contracts: every fresh clone would run it again, for most of a minute. */
import process from "node:process";
import { CONTRACT_RUNS, hasPassed } from "../contracts/scripts/passed.ts";

const missing = CONTRACT_RUNS.filter((name) => !hasPassed(name));
if (missing.length > 0) {
  console.error(`contracts/passed has an older state of the contracts: ${missing.join(", ")}.`);
  console.error("Run npm test -- contracts, and commit contracts/passed with the change.");
  process.exitCode = 1;
}
