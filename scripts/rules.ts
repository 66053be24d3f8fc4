/** Prints which tests show each promise of the API, and fails when one has none: `npm run rules`. */
import process from "node:process";
import { readShown } from "../test/rules/shown.ts";

const { shown, strays } = readShown(process.cwd());
const isLong = process.argv.includes("--tests");
for (const { rule, tests } of shown) {
  const mark = tests.length > 0 ? "✓" : "✗";
  console.log(`${mark} ${rule.id.padEnd(7)} ${String(tests.length).padStart(3)}  ${rule.promise}`);
  if (isLong) for (const { file, name } of tests) console.log(`            ${file}: ${name}`);
}
const bare = shown.filter(({ tests }) => tests.length === 0);
const percent = (((shown.length - bare.length) / shown.length) * 100).toFixed(bare.length > 0 ? 1 : 0);
console.log(`\n${shown.length - bare.length} of ${shown.length} promises are shown by a test (${percent} %).`);
if (!isLong) console.log("`npm run rules -- --tests` names the tests.");
for (const { file, name } of strays) console.log(`${file}: no promise has the number of ${JSON.stringify(name)}`);
process.exitCode = bare.length + strays.length > 0 ? 1 : 0;
