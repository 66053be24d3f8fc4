/** Prints the road: each station with its size and what it imports, then the circles and whatever breaks a rule. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { circles } from "../test/architecture/circles.ts";
import { isTest, readHouse, type House } from "../test/architecture/house.ts";
import { stationImports } from "../test/architecture/imports.ts";
import { ORDER, stationOf } from "../test/architecture/road.ts";
import { describe, RULES } from "../test/architecture/rules.ts";

const house = readHouse(fileURLToPath(new URL("..", import.meta.url)));
printStations(house);

const imports = house.sources.reduce((sum, source) => sum + source.imports.length, 0);
console.log(`\n${house.sources.length} files, ${imports} imports read, ${circles(house).length} circles`);

for (const rule of RULES) {
  const violations = rule.check(house);
  if (violations.length === 0) continue;
  process.exitCode = 1;
  console.error(`\nBroken: ${rule.name}\n${describe(violations)}`);
}

function printStations(read: House): void {
  const imported = stationImports(read);
  console.log(row("station", "files", "lines") + "imports");
  for (const station of ORDER) {
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
