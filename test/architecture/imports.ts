import { isTest, type Codebase, type ImportStatement, type Source, type Violation } from "./codebase.ts";
import { STATION_ORDER, stationOf, stationOfPackage } from "./stationOrder.ts";

/** Nothing read is nothing proved: a reading that finds no import would let every other rule pass. */
export function importsAreParsed(house: Codebase): Violation[] {
  const ours = house.sources.filter((source) => source.path.startsWith("src/"));
  const count = ours.reduce((sum, source) => sum + source.imports.length, 0);
  const found: Violation[] = [];
  if (count === 0)
    found.push({ path: "src", message: "No import was read here. Repair the reading in test/architecture." });
  for (const source of house.sources) {
    const hasImportLine = /^import\b/m.test(source.masked.code);
    if (hasImportLine && source.imports.length === 0) {
      found.push({
        path: source.path,
        message: "It has imports and none was read. Repair the patterns in test/architecture/codebase.ts.",
      });
    }
  }
  return found;
}

/** Every folder and file directly below src has its place in the order. */
export function stationsAreKnown(house: Codebase): Violation[] {
  const stations = new Map(house.sources.map((source) => [stationOf(source.path), source.path]));
  return [...stations].flatMap(([station, path]) => {
    if (station === undefined || STATION_ORDER.includes(station)) return [];
    return [
      {
        path,
        message: `"${station}" has no place in the order. Add it to test/architecture/stationOrder.ts, or move the file.`,
      },
    ];
  });
}

export function importsFollowOrder(house: Codebase): Violation[] {
  return house.sources
    .filter((source) => !isTest(source.path) && !isBuildScript(source.path))
    .flatMap((source) => source.imports.flatMap((item) => findOrderViolations(source, item)));
}

/** What makes a package may use what makes all of them. */
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
        message: `It imports ${item.target}. The service imports nothing that exists for tests or for its tools.`,
      },
    ];
  }
  if (to === undefined || STATION_ORDER.indexOf(to) <= STATION_ORDER.indexOf(from)) return [];
  return [
    {
      ...at,
      message: `${from} imports ${to}, which comes after it. Leave a row for it instead, or move what both need up the road.`,
    },
  ];
}

/** The stations that each station imports, in the order of the road. */
export function stationImports(house: Codebase): Map<string, string[]> {
  const reached = new Map<string, Set<string>>();
  for (const source of house.sources) {
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

export function noBarrels(house: Codebase): Violation[] {
  return house.sources.flatMap((source) => {
    const everything = /\bexport\s+(?:type\s+)?\*/.exec(source.masked.code);
    if (everything) {
      return [
        {
          path: source.path,
          message: "export * hides where a name comes from. Import it from the file that defines it.",
        },
      ];
    }
    const isBarrel = source.imports.some((item) => item.reExports) && !definesSomething(source.masked.code);
    return isBarrel
      ? [{ path: source.path, message: "It only passes other files on. Delete it and import from those files." }]
      : [];
  });
}

function definesSomething(code: string): boolean {
  return (
    /\b(?:const|let|function|class|type\s+[\w$]+\s*(?:<[^=]*>)?\s*=|interface)\b/.test(code) ||
    /\btype\s+\w+[^{}]*=/.test(code)
  );
}
