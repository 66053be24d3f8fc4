import { isTest, type Codebase, type Violation } from "./codebase.ts";

// Type imports count as well: files in a type cycle cannot be read one after the other.

/** Returns one path per import cycle, which ends with its first file. */
export function findImportCycles(codebase: Codebase): string[][] {
  const known = new Set(codebase.sources.map((source) => source.path));
  const targets = new Map(
    codebase.sources.map((source) => [
      source.path,
      source.imports.flatMap((item) => (item.target !== undefined && known.has(item.target) ? [item.target] : [])),
    ]),
  );
  const done = new Set<string>();
  const found: string[][] = [];
  for (const path of known) searchCycles({ path, trail: [] }, { targets, done, found });
  return found;
}

export function noImportCycles(codebase: Codebase): Violation[] {
  return findImportCycles(codebase).map((cycle) => ({
    path: cycle[0] ?? "",
    message: `Import cycle: ${cycle.join(" → ")}. Move the shared code into a file that imports none of these.`,
  }));
}

/** A place of src, and its imports from another one. */
export type PlaceImport = { from: string; to: string; files: readonly string[] };

/**
 * The groups of places that import each other in a circle, each with the imports inside of it. A place is a folder
 * without folders, or a file beside folders: such a file stands for itself, as types that a station's folders share do.
 */
export function findFolderCircles(codebase: Codebase): PlaceImport[][] {
  const imports = listPlaceImports(codebase);
  const places = [...new Set(imports.map(({ from }) => from))];
  const reached = new Map(places.map((place) => [place, reachableFrom(place, imports)]));
  const isMutual = (one: string, other: string) => reached.get(one)?.has(other) && reached.get(other)?.has(one);
  const circles = Map.groupBy(
    places.filter((place) => isMutual(place, place)),
    (place) => places.find((other) => isMutual(place, other)),
  );
  return [...circles.values()].map((members) =>
    imports.filter(({ from, to }) => members.includes(from) && members.includes(to)),
  );
}

/** The stations whose folders can be read one after the other. */
const ORDERED_STATIONS = ["watch", "handover", "deposit", "settlement"];

export function noFolderCircles(codebase: Codebase): Violation[] {
  return findFolderCircles(codebase).flatMap((circle): Violation[] => {
    const [first] = circle;
    if (first === undefined || !ORDERED_STATIONS.some((station) => first.from.startsWith(`src/${station}/`))) return [];
    const imports = circle.map(({ from, to, files }) => `${from} → ${to} (${files[0]})`);
    return [
      {
        path: first.from,
        message: `Folders import each other: ${imports.join("; ")}. Move what both need into a folder that imports neither.`,
      },
    ];
  });
}

function listPlaceImports({ sources }: Codebase): PlaceImport[] {
  const ours = sources.filter(({ path }) => path.startsWith("src/") && !isTest(path));
  const folders = new Set(ours.map(({ path }) => folderOf(path)));
  const parents = new Set([...folders].map(folderOf));
  const placeOf = (path: string) => (parents.has(folderOf(path)) ? path : folderOf(path));
  const crossing = ours.flatMap(({ path, imports }) =>
    imports.flatMap(({ target }) =>
      target?.startsWith("src/") && placeOf(target) !== placeOf(path)
        ? [{ from: placeOf(path), to: placeOf(target), file: `${path} → ${target}` }]
        : [],
    ),
  );
  return [...Map.groupBy(crossing, ({ from, to }) => `${from} ${to}`).values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ from: first.from, to: first.to, files: group.map(({ file }) => file) }] : [];
  });
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function reachableFrom(place: string, imports: readonly PlaceImport[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [place];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const { from, to } of imports) {
      if (from !== current || found.has(to)) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found;
}

type SearchState = { targets: ReadonlyMap<string, readonly string[]>; done: Set<string>; found: string[][] };

/** Depth-first search; an import of a file on the trail closes a cycle. The number of files bounds the depth. */
function searchCycles(step: { path: string; trail: readonly string[] }, state: SearchState): void {
  const start = step.trail.indexOf(step.path);
  if (start !== -1) {
    state.found.push([...step.trail.slice(start), step.path]);
    return;
  }
  if (state.done.has(step.path)) return;
  for (const target of state.targets.get(step.path) ?? []) {
    searchCycles({ path: target, trail: [...step.trail, step.path] }, state);
  }
  state.done.add(step.path);
}
