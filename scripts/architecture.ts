/** Prints the road: each station with its size and imports, then the import cycles and the broken rules. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findImportCycles } from "../test/architecture/importCycles.ts";
import { isTest, readCodebase, type Codebase } from "../test/architecture/codebase.ts";
import { ROOT_DOCUMENTS } from "../test/architecture/documents.ts";
import { stationImports } from "../test/architecture/imports.ts";
import { STATION_ORDER, stationOf } from "../test/architecture/stationOrder.ts";
import { formatViolations, ARCHITECTURE_RULES } from "../test/architecture/rules.ts";

const house = readCodebase(fileURLToPath(new URL("..", import.meta.url)), ROOT_DOCUMENTS);
printStations(house);

const imports = house.sources.reduce((sum, source) => sum + source.imports.length, 0);
console.log(`\n${house.sources.length} files, ${imports} imports read, ${findImportCycles(house).length} circles`);

for (const rule of ARCHITECTURE_RULES) {
  const violations = rule.check(house);
  if (violations.length === 0) continue;
  process.exitCode = 1;
  console.error(`\nBroken: ${rule.name}\n${formatViolations(violations)}`);
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
