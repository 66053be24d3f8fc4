import process from "node:process";
import { parseArgs } from "node:util";
import { databases } from "../support/database.ts";
import { openCrashDatabase } from "./crashDatabase.ts";
import { openScenario } from "./scenario.ts";
import { testEveryCrashPoint } from "./testEveryCrashPoint.ts";

// Crashes a process before or after each selected step of the road, and compares the outcomes:
// node test/crash/sweep.ts pglite after --first 1 --stride 4

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { first: { type: "string", default: "1" }, stride: { type: "string", default: "1" } },
});
const [database, moment] = positionals;
const kind = databases.find((name) => name === database);
if (kind === undefined) throw new Error(`There is no database ${database}: pglite or postgres.`);
if (moment !== "before" && moment !== "after") throw new Error(`There is no moment ${moment}: before or after.`);

const range = { first: Number(values.first), stride: Number(values.stride) };
const scenario = await openScenario(await openCrashDatabase(kind));
const { interruptions, differences } = await testEveryCrashPoint(scenario, { scope: "all", moment, ...range });
await scenario.close();
for (const difference of differences) process.stdout.write(`${difference}\n`);
process.stdout.write(`${interruptions} crashes, ${differences.length} differ\n`);
if (differences.length > 0 || interruptions === 0) process.exitCode = 1;
