import type { Codebase, Violation } from "./codebase.ts";

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
