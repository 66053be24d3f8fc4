import { lineNumberAt, productionSources, type Codebase, type Source, type Violation } from "./codebase.ts";
import { FOUNDATION, stationOf } from "./stationOrder.ts";

// SQL uses no database time or randomness, and every table has one writer, so that one file shows every change
// to a row.

const IMPURE_SQL =
  /\b(?:now|random|gen_random_uuid|uuid_generate_v4|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)|\bcurrent_(?:timestamp|date|time)\b|\blocaltime(?:stamp)?\b/gi;

/** Files that may use the database's clock, each with its reason. */
const SQL_PORTS: ReadonlyArray<{ path: string; because: string }> = [
  { path: "src/db/serverClock.ts", because: "it is the shared clock of processes whose own clocks differ" },
];

export function sqlIsPure(codebase: Codebase): Violation[] {
  const checked = productionSources(codebase).filter(({ path }) => !SQL_PORTS.some((port) => port.path === path));
  return checked.flatMap((source) =>
    [...source.masked.strings.matchAll(IMPURE_SQL)].map((match) => ({
      path: source.path,
      line: lineNumberAt(source.masked.strings, match.index),
      message: `"${match[0]}" takes a value from the database. Pass the time or the random value as a parameter.`,
    })),
  );
}

const CREATES = [
  /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?"?(?<table>\w+)"?/gi,
  /\bcreateTable\(\s*["'](?<table>\w+)["']/g,
];

const WRITES = [
  /\b(?:insert|merge)\s+into\s+(?:only\s+)?"?(?<table>\w+)"?/gi,
  /\bdelete\s+from\s+(?:only\s+)?"?(?<table>\w+)"?/gi,
  /\btruncate\s+(?:table\s+)?"?(?<table>\w+)"?/gi,
  /\bupdate\s+(?:only\s+)?"?(?<table>\w+)"?\s+(?:as\s+)?(?:(?!set\b)\w+\s+)?set\b/gi,
  /\b(?:insertInto|replaceInto|mergeInto|updateTable|deleteFrom)\(\s*["'](?<table>\w+)(?:\s+as\s+\w+)?["']/g,
];

/** A write with a table parameter counts for every table that the file names in a string. */
const WRITES_TO_PARAMETER = /\b(?:insertInto|replaceInto|mergeInto|updateTable|deleteFrom)\(\s*[a-z]\w*\s*\)/;
const NAMED = [/["'](?<table>\w+)["']/g];

/** The tables that the migrations create. */
export function tablesOf(codebase: Codebase): Set<string> {
  const migrations = codebase.sources.filter((source) => isMigration(source.path));
  return new Set(
    migrations.flatMap((source) => CREATES.flatMap((pattern) => tablesIn(source, pattern).map(({ table }) => table))),
  );
}

/** The writers of each table, without migrations. */
export function writersOf(codebase: Codebase): Map<string, Write[]> {
  const tables = tablesOf(codebase);
  const writers = new Map<string, Write[]>();
  for (const source of productionSources(codebase)) {
    if (isMigration(source.path)) continue;
    const patterns = WRITES_TO_PARAMETER.test(source.masked.code) ? [...WRITES, ...NAMED] : WRITES;
    for (const write of patterns.flatMap((pattern) => tablesIn(source, pattern))) {
      if (tables.has(write.table)) writers.set(write.table, [...(writers.get(write.table) ?? []), write]);
    }
  }
  return writers;
}

export function tablesHaveOneWriter(codebase: Codebase): Violation[] {
  if (codebase.sources.some((source) => isMigration(source.path)) && tablesOf(codebase).size === 0) {
    return [
      {
        path: "src/db/migrations",
        message: "The rule found no table here. Repair the patterns in test/architecture/tables.ts.",
      },
    ];
  }
  return [...writersOf(codebase)].flatMap(([table, writes]) => {
    const paths = [...new Set(writes.map((write) => write.path))];
    const outside = writes.filter((write) => !mayWrite(write.path));
    const found: Violation[] = outside.map(({ path, line }) => ({
      path,
      line,
      message: `It writes "${table}". Only a store.ts writes a station's table; call the store.`,
    }));
    if (paths.length > 1) {
      found.push({
        path: paths[0] ?? "",
        message: `"${table}" is written by ${paths.join(" and ")}. Choose one writer, and call it from the other file.`,
      });
    }
    return found;
  });
}

const TABLE_TYPES = /\binterface Schema \{(?<rows>[^}]*)\}/g;

/** A table's row type stands in the station that writes the table, so that one folder shows both. */
export function tableTypesAreInTheirStation(codebase: Codebase): Violation[] {
  const writers = writersOf(codebase);
  return productionSources(codebase).flatMap(({ path, masked: { withoutComments } }) =>
    [...withoutComments.matchAll(TABLE_TYPES)].flatMap(({ index, groups }) =>
      [...(groups?.["rows"] ?? "").matchAll(/^\s*(\w+):/gm)].flatMap(([, table = ""]): Violation[] => {
        const station = writers.get(table)?.map((write) => stationOf(write.path))[0];
        if (station === undefined || station === stationOf(path)) return [];
        const message = `It declares "${table}", which ${station} writes. Move its row type there.`;
        return [{ path, line: lineNumberAt(withoutComments, index), message }];
      }),
    ),
  );
}

type Write = { table: string; path: string; line: number };

function tablesIn(source: Source, pattern: RegExp): Write[] {
  const text = source.masked.withoutComments;
  return [...text.matchAll(pattern)].flatMap((match) => {
    const table = match.groups?.["table"];
    return table === undefined ? [] : [{ table, path: source.path, line: lineNumberAt(text, match.index) }];
  });
}

function mayWrite(path: string): boolean {
  return /\/(?:store|\w+Store)\.ts$/.test(path) || FOUNDATION.some((station) => station === stationOf(path));
}

function isMigration(path: string): boolean {
  return path.startsWith("src/db/migrations/");
}

const PINNED_ADDRESS = /\binbox_address\b/g;

/** Files whose SQL may name an intent's pinned address, each with its reason. All others read the table inbox. */
const PINNED_ADDRESS_READERS: ReadonlyArray<{ path: string; because: string }> = [
  { path: "src/intent/store.ts", because: "it writes the column and the table inbox together" },
  { path: "src/intent/checks.ts", because: "it compares the pinned address with the table inbox" },
  { path: "src/event/format/pinnedIntent.ts", because: "an event shows the address of its intent" },
];

/** The table inbox maps addresses to intents; the intent's column only pins and shows its address. */
export function inboxesAreReadFromTheirTable(
  codebase: Codebase,
  exceptions: ReadonlyArray<{ path: string }> = PINNED_ADDRESS_READERS,
): Violation[] {
  const checked = productionSources(codebase).filter(({ path }) => !isMigration(path));
  const found = checked.flatMap((source) =>
    [...source.masked.strings.matchAll(PINNED_ADDRESS)].map((match) => ({
      path: source.path,
      line: lineNumberAt(source.masked.strings, match.index),
      message: "It finds an inbox by a column of the intent. Query the table inbox (src/intent/inboxStore.ts).",
    })),
  );
  const unneeded = exceptions
    .filter(({ path }) => !found.some((violation) => violation.path === path))
    .map(({ path }) => ({
      path,
      message: "It no longer names inbox_address. Remove the exception in test/architecture/tables.ts.",
    }));
  return [...found.filter(({ path }) => !exceptions.some((exception) => exception.path === path)), ...unneeded];
}
