/** Prints the tests of each API promise, and fails when a promise has none: `npm run rules`. */
import process from "node:process";
import { readPromiseCoverage } from "../test/rules/promiseCoverage.ts";

const { shown: coverage, strays: unknownIds } = readPromiseCoverage(process.cwd());
const showsTests = process.argv.includes("--tests");
const showsMissingOnly = process.argv.includes("--missing");
for (const { promise: rule, tests } of coverage) {
  if (showsMissingOnly && tests.length > 0) continue;
  const mark = tests.length > 0 ? "✓" : "✗";
  console.log(`${mark} ${rule.id.padEnd(7)} ${String(tests.length).padStart(3)}  ${rule.promise}`);
  if (showsTests) for (const { file, name } of tests) console.log(`            ${file}: ${name}`);
}
const uncovered = coverage.filter(({ tests }) => tests.length === 0);
const percent = (((coverage.length - uncovered.length) / coverage.length) * 100).toFixed(uncovered.length > 0 ? 1 : 0);
console.log(`\n${coverage.length - uncovered.length} of ${coverage.length} promises have a test (${percent} %).`);
if (!showsTests && !showsMissingOnly) console.log("`npm run rules -- --tests` names the tests.");
for (const { file, name } of unknownIds) console.log(`${file}: no promise has the number of ${JSON.stringify(name)}`);
process.exitCode = uncovered.length + unknownIds.length > 0 ? 1 : 0;
