import { isTest, type House, type Import, type Source, type Violation } from "./house.ts";
import { ORDER, stationOf, stationOfPackage } from "./road.ts";

/** Nothing read is nothing proved: a reading that finds no import would let every other rule pass. */
export function readingIsNotEmpty(house: House): Violation[] {
  const ours = house.sources.filter((source) => source.path.startsWith("src/"));
  const count = ours.reduce((sum, source) => sum + source.imports.length, 0);
  const found: Violation[] = [];
  if (count === 0)
    found.push({ path: "src", message: "No import was read here. Repair the reading in test/architecture." });
  for (const source of house.sources) {
    const hasImportLine = /^import\b/m.test(source.layers.code);
    if (hasImportLine && source.imports.length === 0) {
      found.push({
        path: source.path,
        message: "It has imports and none was read. Repair the patterns in test/architecture/house.ts.",
      });
    }
  }
  return found;
}

/** Every folder and file directly below src has its place in the order. */
export function stationsAreKnown(house: House): Violation[] {
  const stations = new Map(house.sources.map((source) => [stationOf(source.path), source.path]));
  return [...stations].flatMap(([station, path]) => {
    if (station === undefined || ORDER.includes(station)) return [];
    return [
      {
        path,
        message: `"${station}" has no place in the order. Add it to test/architecture/road.ts, or move the file.`,
      },
    ];
  });
}

export function importsGoUp(house: House): Violation[] {
  return house.sources
    .filter((source) => !isTest(source.path) && !isTool(source.path))
    .flatMap((source) => source.imports.flatMap((item) => wrongWay(source, item)));
}

/** What makes a package may use what makes all of them. */
function isTool(path: string): boolean {
  return /^packages\/[^/]+\/scripts\//.test(path);
}

function wrongWay(source: Source, item: Import): Violation[] {
  const from = stationOf(source.path);
  if (from === undefined) return [];
  const to = stationReached(item);
  const at = { path: source.path, line: item.line };
  if (item.target !== undefined && (to === undefined || isTest(item.target))) {
    return [
      {
        ...at,
        message: `It imports ${item.target}. The service imports nothing that exists for tests or for its tools.`,
      },
    ];
  }
  if (to === undefined || ORDER.indexOf(to) <= ORDER.indexOf(from)) return [];
  return [
    {
      ...at,
      message: `${from} imports ${to}, which comes after it. Leave a row for it instead, or move what both need up the road.`,
    },
  ];
}

/** The stations that each station imports, in the order of the road. */
export function stationImports(house: House): Map<string, string[]> {
  const reached = new Map<string, Set<string>>();
  for (const source of house.sources) {
    const from = stationOf(source.path);
    if (from === undefined || isTest(source.path)) continue;
    const set = reached.get(from) ?? new Set<string>();
    for (const item of source.imports) {
      const to = stationReached(item);
      if (to !== undefined && to !== from) set.add(to);
    }
    reached.set(from, set);
  }
  return new Map(
    [...reached].map(([from, set]) => [from, [...set].toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))]),
  );
}

function stationReached(item: Import): string | undefined {
  return item.target === undefined ? stationOfPackage(item.specifier) : stationOf(item.target);
}

export function noBarrels(house: House): Violation[] {
  return house.sources.flatMap((source) => {
    const everything = /\bexport\s+(?:type\s+)?\*/.exec(source.layers.code);
    if (everything) {
      return [
        {
          path: source.path,
          message: "export * hides where a name comes from. Import it from the file that defines it.",
        },
      ];
    }
    const isBarrel = source.imports.some((item) => item.reExports) && !definesSomething(source.layers.code);
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
