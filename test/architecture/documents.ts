import { productionSources, type Codebase, type Violation } from "./codebase.ts";
import { FOUNDATION, STATION_ORDER, stationOf } from "./stationOrder.ts";
import { tablesOf, writersOf } from "./tables.ts";

// What the documents say about the code: numbers, dependencies, folders, tables and words. A document that the code
// has left behind is a violation.

const README = "README.md";
const ARCHITECTURE = "ARCHITECTURE.md";
const GLOSSARY = "GLOSSARY.md";
const DEPENDENCIES = "docs/why/001-parts.md";
const OPERATIONS = "src/http/operations/";

/** Documents below the root; the others lie in the folders that every rule reads. */
export const ROOT_DOCUMENTS = [README, ARCHITECTURE, GLOSSARY, "package.json"] as const;

const NUMBERS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );

export function readmeCountsOperations(codebase: Codebase): Violation[] {
  const text = codebase.documents.get(README);
  if (text === undefined) return [];
  const count = productionSources(codebase).filter(({ path }) => path.startsWith(OPERATIONS)).length;
  const said = /^(\w+) operations:/m.exec(text)?.[1]?.toLowerCase();
  const expected = NUMBERS[count] ?? String(count);
  return said === expected
    ? []
    : [{ path: README, message: `It must say "${expected} operations:", and says ${said}.` }];
}

type Manifest = { dependencies?: Record<string, string> };

/** Each production dependency has a row with its reason, and each row is a dependency. */
export function dependenciesHaveReasons(codebase: Codebase): Violation[] {
  const text = codebase.documents.get(DEPENDENCIES);
  if (text === undefined) return [];
  const manifests = [...codebase.documents].filter(([path]) => /^(?:packages\/[^/]+\/)?package\.json$/.test(path));
  const needed = manifests.flatMap(([, json]) => Object.keys((JSON.parse(json) as Manifest).dependencies ?? {}));
  return compareLists(DEPENDENCIES, "dependency", {
    found: [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name),
    expected: [...new Set(needed)].filter((name) => !name.startsWith("@tributary/")),
  });
}

/** Every folder of the station order has files, and the diagram shows it. */
export function foldersAreDescribed(codebase: Codebase): Violation[] {
  const text = codebase.documents.get(ARCHITECTURE);
  if (text === undefined) return [];
  const present = new Set(codebase.paths.flatMap((path) => stationOf(path) ?? []));
  const absent = STATION_ORDER.filter((station) => !present.has(station)).map((station) => ({
    path: "test/architecture/stationOrder.ts",
    message: `"${station}" has no file. Remove it from the station order.`,
  }));
  const diagram = /^```\n([\s\S]*?)^```/m.exec(text)?.[1] ?? "";
  const folders = STATION_ORDER.filter((station) => /^\w+$/.test(station));
  return [
    ...absent,
    ...compareLists(ARCHITECTURE, "folder of its diagram", {
      found: folders.filter((folder) => new RegExp(`\\b${folder}\\b`).test(diagram)),
      expected: folders.filter((folder) => present.has(folder)),
    }),
  ];
}

/** The table of stations names each table that the station's stores write, and no other. */
export function stationTablesAreDescribed(codebase: Codebase): Violation[] {
  const text = codebase.documents.get(ARCHITECTURE);
  if (text === undefined) return [];
  const tables = tablesOf(codebase);
  const rows = /^## The stations$([\s\S]*?)^## /m.exec(text)?.[1] ?? "";
  const described = [...rows.matchAll(/^\| `(\w+)` \|[^|]*\|([^|]*)\|$/gm)].flatMap(([, station = "", cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].flatMap(([, name = ""]) => (tables.has(name) ? [`${station}: ${name}`] : [])),
  );
  const writers = writersOf(codebase);
  const written = [...writers].flatMap(([table, writes]) => {
    const stations = new Set(writes.map(({ path }) => stationOf(path) ?? ""));
    return [...stations]
      .filter((station) => !FOUNDATION.some((folder) => folder === station))
      .map((station) => `${station}: ${table}`);
  });
  // A table that only a trigger writes may stand in the row of the station whose rows cause it.
  const found = [...new Set(described)].filter((row) => writers.has(row.replace(/^\w+: /, "")));
  return compareLists(ARCHITECTURE, "entry in the table of stations", { found, expected: written });
}

/** The glossary's foundation is the one of the station order, and each of its words occurs in code or documents. */
export function glossaryIsUsed(codebase: Codebase): Violation[] {
  const text = codebase.documents.get(GLOSSARY);
  if (text === undefined) return [];
  const listed = /\*\*foundation\*\*[^:]*: ([^.]*)\./.exec(text)?.[1]?.split(/,? (?:and )?/) ?? [];
  const others = [...codebase.documents].filter(([path]) => path !== GLOSSARY).map(([, each]) => each);
  const said = [...productionSources(codebase).map((source) => source.text), ...others]
    .join("\n")
    .toLowerCase()
    .replaceAll(/[_\s/*]+/g, " ");
  const words = [...text.matchAll(/^\| (\*\*[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/\*\*`?([^*`]+)`?\*\*/g)].map(([, word = ""]) => word.toLowerCase()),
  );
  return [
    ...compareLists(GLOSSARY, "folder of the foundation", { found: listed, expected: [...FOUNDATION] }),
    ...words
      .filter((word) => !said.includes(word))
      .map((word) => ({ path: GLOSSARY, message: `Nothing else says "${word}". Remove the word, or use it.` })),
  ];
}

function compareLists(
  path: string,
  what: string,
  { found, expected }: { found: readonly string[]; expected: readonly string[] },
): Violation[] {
  return [
    ...expected
      .filter((name) => !found.includes(name))
      .map((name) => ({ path, message: `The ${what} "${name}" is missing.` })),
    ...found
      .filter((name) => !expected.includes(name))
      .map((name) => ({ path, message: `The ${what} "${name}" does not exist. Remove it.` })),
  ];
}
