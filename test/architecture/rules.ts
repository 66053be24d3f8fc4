import { blockCountsAreNoTimes } from "./blockCounts.ts";
import { evmWordsStayInTheirKind } from "./chainKinds.ts";
import { noFolderCircles, noImportCycles } from "./importCycles.ts";
import type { Codebase, Violation } from "./codebase.ts";
import { importsFollowOrder, noBarrels, importsAreParsed, stationsAreKnown } from "./imports.ts";
import {
  dependenciesHaveReasons,
  foldersAreDescribed,
  glossaryIsUsed,
  readmeCountsOperations,
  stationTablesAreDescribed,
} from "./documents.ts";
import { errorCodesHavePages, operationsHaveTests } from "./companionFiles.ts";
import { impurityStaysInPorts } from "./ports.ts";
import { testsRepeatTheirValues } from "./randomValues.ts";
import { filesAreShort, foldersAreShallow, foldersAreSmall } from "./size.ts";
import { inboxesAreReadFromTheirTable, sqlIsPure, tablesHaveOneWriter, tableTypesAreInTheirStation } from "./tables.ts";

export type ArchitectureRule = { readonly name: string; readonly check: (codebase: Codebase) => Violation[] };

export const ARCHITECTURE_RULES: readonly ArchitectureRule[] = [
  { name: "the parser finds imports", check: importsAreParsed },
  { name: "every folder below src has a place in the station order", check: stationsAreKnown },
  { name: "a station imports only earlier stations", check: importsFollowOrder },
  { name: "no import cycles", check: noImportCycles },
  { name: "no circles of folders in the stations from watch to settlement", check: noFolderCircles },
  { name: "no barrels", check: noBarrels },
  {
    name: "time, timers, randomness, environment and network only in their ports",
    check: (codebase) => impurityStaysInPorts(codebase),
  },
  { name: "tests draw the same values every time", check: testsRepeatTheirValues },
  { name: "no database time and no database randomness", check: sqlIsPure },
  { name: "one writer for each table", check: tablesHaveOneWriter },
  { name: "each table's row type in its station", check: tableTypesAreInTheirStation },
  { name: "inboxes are read from their own table", check: (codebase) => inboxesAreReadFromTheirTable(codebase) },
  { name: "EVM words only below the EVM kind", check: (codebase) => evmWordsStayInTheirKind(codebase) },
  { name: "no constant counts blocks where it means a time", check: (codebase) => blockCountsAreNoTimes(codebase) },
  { name: "one file and one test folder for each operation", check: operationsHaveTests },
  { name: "one page for each error code", check: errorCodesHavePages },
  { name: "the README counts the operations", check: readmeCountsOperations },
  { name: "each dependency has its reason", check: dependenciesHaveReasons },
  { name: "the architecture shows every folder", check: foldersAreDescribed },
  { name: "the architecture names the tables of each station", check: stationTablesAreDescribed },
  { name: "the glossary's words are used", check: glossaryIsUsed },
  { name: "at most three folders below src", check: foldersAreShallow },
  { name: "at most 12 files in a folder of src, without tests", check: foldersAreSmall },
  { name: "at most 400 lines in a file", check: filesAreShort },
];

/** Formats one violation per line as "src/intent/store.ts:12: problem and fix". */
export function formatViolations(violations: readonly Violation[]): string {
  return violations
    .map(({ path, line, message }) => `${path}${line === undefined ? "" : `:${line}`}: ${message}`)
    .join("\n");
}
