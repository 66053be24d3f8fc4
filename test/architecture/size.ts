import type { Codebase, Violation } from "./codebase.ts";

const LINES_MAX = 400;
const FOLDERS_MAX = 3;
const FILES_MAX = 12;
/** Folders that grow by one file per migration. */
const LISTS = ["src/db/migrations"];

export function filesAreShort(codebase: Codebase): Violation[] {
  return codebase.sources
    .filter((source) => source.lines > LINES_MAX && !source.path.endsWith(".generated.ts"))
    .map(({ path, lines }) => ({
      path,
      message: `It has ${lines} lines; the maximum is ${LINES_MAX}. Split it by responsibility.`,
    }));
}

export function foldersAreShallow(codebase: Codebase): Violation[] {
  return codebase.paths
    .filter((path) => path.startsWith("src/") && path.split("/").length - 2 > FOLDERS_MAX)
    .map((path) => ({
      path,
      message: `It is more than ${FOLDERS_MAX} folders below src. Move it up, or make it a station.`,
    }));
}

export function foldersAreSmall(codebase: Codebase): Violation[] {
  const files = codebase.paths.filter((path) => path.startsWith("src/") && !path.endsWith(".test.ts"));
  const folders = Map.groupBy(files, (path) => path.slice(0, path.lastIndexOf("/")));
  return [...folders].flatMap(([path, { length }]) =>
    length <= FILES_MAX || LISTS.includes(path)
      ? []
      : [
          {
            path,
            message: `It has ${length} files; the maximum is ${FILES_MAX}. Move related files into a folder.`,
          },
        ],
  );
}
