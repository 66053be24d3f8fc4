import type { Codebase, Violation } from "./codebase.ts";

// Imports for types count as well: a circle of types is still two files that cannot be understood one after the other.

/** One path per circle of files, each ending with the file it starts with. */
export function findImportCycles(house: Codebase): string[][] {
  const known = new Set(house.sources.map((source) => source.path));
  const targets = new Map(
    house.sources.map((source) => [
      source.path,
      source.imports.flatMap((item) => (item.target !== undefined && known.has(item.target) ? [item.target] : [])),
    ]),
  );
  const done = new Set<string>();
  const found: string[][] = [];
  for (const path of known) searchCycles({ path, trail: [] }, { targets, done, found });
  return found;
}

export function noImportCycles(house: Codebase): Violation[] {
  return findImportCycles(house).map((circle) => ({
    path: circle[0] ?? "",
    message: `A circle: ${circle.join(" → ")}. Move what they share into a file that imports none of them.`,
  }));
}

type SearchState = { targets: ReadonlyMap<string, readonly string[]>; done: Set<string>; found: string[][] };

/** Depth first; an edge back into the trail closes a circle. The depth is bounded by the number of files. */
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
