import { isTest, type Codebase, type ImportStatement, type Source, type Violation } from "./codebase.ts";
import { STATION_ORDER, stationOf, stationOfPackage } from "./stationOrder.ts";

/** Without parsed imports every other import rule would pass. */
export function importsAreParsed(codebase: Codebase): Violation[] {
  const ours = codebase.sources.filter((source) => source.path.startsWith("src/"));
  const count = ours.reduce((sum, source) => sum + source.imports.length, 0);
  const found: Violation[] = [];
  if (count === 0)
    found.push({
      path: "src",
      message: "The parser found no import here. Repair it in test/architecture/codebase.ts.",
    });
  for (const source of codebase.sources) {
    const hasImportLine = /^import\b/m.test(source.masked.code);
    if (hasImportLine && source.imports.length === 0) {
      found.push({
        path: source.path,
        message: "The parser found none of this file's imports. Repair the patterns in test/architecture/codebase.ts.",
      });
    }
  }
  return found;
}

/** Every folder and file directly below src has a place in the station order. */
export function stationsAreKnown(codebase: Codebase): Violation[] {
  const stations = new Map(codebase.sources.map((source) => [stationOf(source.path), source.path]));
  return [...stations].flatMap(([station, path]) => {
    if (station === undefined || STATION_ORDER.includes(station)) return [];
    return [
      {
        path,
        message: `"${station}" is missing from the station order. Add it to test/architecture/stationOrder.ts, or move the file.`,
      },
    ];
  });
}

export function importsFollowOrder(codebase: Codebase): Violation[] {
  return codebase.sources
    .filter((source) => !isTest(source.path) && !isBuildScript(source.path))
    .flatMap((source) => source.imports.flatMap((item) => findOrderViolations(source, item)));
}

/** A package's build scripts may import the shared build scripts. */
function isBuildScript(path: string): boolean {
  return /^packages\/[^/]+\/scripts\//.test(path);
}

function findOrderViolations(source: Source, item: ImportStatement): Violation[] {
  const from = stationOf(source.path);
  if (from === undefined) return [];
  const to = importedStation(item);
  const at = { path: source.path, line: item.line };
  if (item.target !== undefined && (to === undefined || isTest(item.target))) {
    return [
      {
        ...at,
        message: `It imports ${item.target}. The service must not import tests or tools.`,
      },
    ];
  }
  if (to === undefined || STATION_ORDER.indexOf(to) <= STATION_ORDER.indexOf(from)) return [];
  return [
    {
      ...at,
      message: `${from} imports ${to}, a later station. Write a row that ${to} reads instead, or move the shared code to an earlier station.`,
    },
  ];
}

/** The stations that each station imports, in station order. */
export function stationImports(codebase: Codebase): Map<string, string[]> {
  const reached = new Map<string, Set<string>>();
  for (const source of codebase.sources) {
    const from = stationOf(source.path);
    if (from === undefined || isTest(source.path)) continue;
    const set = reached.get(from) ?? new Set<string>();
    for (const item of source.imports) {
      const to = importedStation(item);
      if (to !== undefined && to !== from) set.add(to);
    }
    reached.set(from, set);
  }
  return new Map(
    [...reached].map(([from, set]) => [
      from,
      [...set].toSorted((a, b) => STATION_ORDER.indexOf(a) - STATION_ORDER.indexOf(b)),
    ]),
  );
}

function importedStation(item: ImportStatement): string | undefined {
  return item.target === undefined ? stationOfPackage(item.specifier) : stationOf(item.target);
}

export function noBarrels(codebase: Codebase): Violation[] {
  return codebase.sources.flatMap((source) => {
    const everything = /\bexport\s+(?:type\s+)?\*/.exec(source.masked.code);
    if (everything) {
      return [
        {
          path: source.path,
          message: "export * hides the file that defines a name. Import each name from its own file.",
        },
      ];
    }
    const isBarrel = source.imports.some((item) => item.reExports) && !definesSomething(source.masked.code);
    return isBarrel
      ? [{ path: source.path, message: "The file only re-exports. Delete it and import from the original files." }]
      : [];
  });
}

function definesSomething(code: string): boolean {
  return (
    /\b(?:const|let|function|class|type\s+[\w$]+\s*(?:<[^=]*>)?\s*=|interface)\b/.test(code) ||
    /\btype\s+\w+[^{}]*=/.test(code)
  );
}
