/**
 * Prints the road: each station with its size and imports, then the import cycles and the broken rules.
 *
 * `--walk watchChain chain` follows the calls of a function to those that take the same parameter, and prints how many
 * calls and files that are, and how many calls lead back into a file that was left.
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findFolderCircles, findImportCycles } from "../test/architecture/importCycles.ts";
import { isTest, readCodebase, type Codebase } from "../test/architecture/codebase.ts";
import { ROOT_DOCUMENTS } from "../test/architecture/documents.ts";
import { stationImports } from "../test/architecture/imports.ts";
import { STATION_ORDER, stationOf } from "../test/architecture/stationOrder.ts";
import { walkCalls } from "../test/architecture/walkCalls.ts";
import { formatViolations, ARCHITECTURE_RULES } from "../test/architecture/rules.ts";

const house = readCodebase(fileURLToPath(new URL("..", import.meta.url)), ROOT_DOCUMENTS);
const [option, name, parameter] = process.argv.slice(2);
if (option === "--walk" && name !== undefined && parameter !== undefined) printWalk(name, parameter);
else printAll();

function printAll(): void {
  printStations(house);
  const imports = house.sources.reduce((sum, source) => sum + source.imports.length, 0);
  const circles = findFolderCircles(house);
  console.log(
    `\n${house.sources.length} files, ${imports} imports read, ${findImportCycles(house).length} circles of files, ${circles.length} of folders`,
  );
  for (const circle of circles) {
    console.log("\ncircle of folders");
    for (const { from, to, files } of circle) console.log(`  ${from} → ${to} (${files.length}): ${files[0]}`);
  }
  for (const rule of ARCHITECTURE_RULES) {
    const violations = rule.check(house);
    if (violations.length === 0) continue;
    process.exitCode = 1;
    console.error(`\nBroken: ${rule.name}\n${formatViolations(violations)}`);
  }
}

function printWalk(start: string, taken: string): void {
  const { calls, files, returns } = walkCalls(house, { name: start, parameter: taken });
  for (const file of files) console.log(file);
  console.log(`\n${calls} calls of functions that take ${taken}, in ${files.length} files, ${returns} back into one`);
}

function printStations(read: Codebase): void {
  const imported = stationImports(read);
  console.log(row("station", "files", "lines") + "imports");
  for (const station of STATION_ORDER) {
    const sources = read.sources.filter((source) => stationOf(source.path) === station && !isTest(source.path));
    if (sources.length === 0) continue;
    const lines = sources.reduce((sum, source) => sum + source.lines, 0);
    const names = imported.get(station) ?? [];
    console.log(row(station, String(sources.length), String(lines)) + (names.join(", ") || "–"));
  }
}

function row(station: string, files: string, lines: string): string {
  return `${station.padEnd(20)}${files.padStart(5)}${lines.padStart(7)}   `;
}
