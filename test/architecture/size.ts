import type { Codebase, Violation } from "./codebase.ts";

const LINES_MAX = 400;
const FOLDERS_MAX = 3;

export function filesAreShort(house: Codebase): Violation[] {
  return house.sources
    .filter((source) => source.lines > LINES_MAX && !source.path.endsWith(".generated.ts"))
    .map(({ path, lines }) => ({
      path,
      message: `It has ${lines} lines, and ${LINES_MAX} is the most. Split it along what it does.`,
    }));
}

export function foldersAreShallow(house: Codebase): Violation[] {
  return house.paths
    .filter((path) => path.startsWith("src/") && path.split("/").length - 2 > FOLDERS_MAX)
    .map((path) => ({
      path,
      message: `It lies more than ${FOLDERS_MAX} folders below src. Move it up, or make it a station.`,
    }));
}
