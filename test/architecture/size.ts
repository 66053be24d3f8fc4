import type { Codebase, Violation } from "./codebase.ts";

const LINES_MAX = 400;
const FOLDERS_MAX = 3;
const FILES_MAX = 12;
/** Folders whose files are a list that only grows, each under its number or name. */
const LISTS = ["src/db/migrations", "src/http/operations"];

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

export function foldersAreSmall(house: Codebase): Violation[] {
  const files = house.paths.filter((path) => path.startsWith("src/") && !path.endsWith(".test.ts"));
  const folders = Map.groupBy(files, (path) => path.slice(0, path.lastIndexOf("/")));
  return [...folders].flatMap(([path, { length }]) =>
    length <= FILES_MAX || LISTS.includes(path)
      ? []
      : [
          {
            path,
            message: `It has ${length} files, and ${FILES_MAX} is the most. Give those that belong together a folder.`,
          },
        ],
  );
}
