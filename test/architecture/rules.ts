import { evmWordsStayInTheirKind } from "./chainKinds.ts";
import { noImportCycles } from "./importCycles.ts";
import type { Codebase, Violation } from "./codebase.ts";
import { importsFollowOrder, noBarrels, importsAreParsed, stationsAreKnown } from "./imports.ts";
import { errorCodesHavePages, operationsHaveTests } from "./companionFiles.ts";
import { impurityStaysInPorts } from "./ports.ts";
import { filesAreShort, foldersAreShallow, foldersAreSmall } from "./size.ts";
import { inboxesAreReadFromTheirTable, sqlIsPure, tablesHaveOneWriter } from "./tables.ts";

export type ArchitectureRule = { readonly name: string; readonly check: (house: Codebase) => Violation[] };

export const ARCHITECTURE_RULES: readonly ArchitectureRule[] = [
  { name: "the imports were read", check: importsAreParsed },
  { name: "every folder below src has its place in the order", check: stationsAreKnown },
  { name: "a station imports only what stands before it", check: importsFollowOrder },
  { name: "no circle of imports", check: noImportCycles },
  { name: "no barrels", check: noBarrels },
  {
    name: "time, timers, randomness, environment and network only in their ports",
    check: (house) => impurityStaysInPorts(house),
  },
  { name: "no time and no randomness of the database's own", check: sqlIsPure },
  { name: "one writer for each table", check: tablesHaveOneWriter },
  { name: "inboxes are read from their own table", check: (house) => inboxesAreReadFromTheirTable(house) },
  { name: "words of EVM chains only below their kind", check: (house) => evmWordsStayInTheirKind(house) },
  { name: "one file and one test folder for each operation", check: operationsHaveTests },
  { name: "one page for each error code", check: errorCodesHavePages },
  { name: "at most three folders below src", check: foldersAreShallow },
  { name: "at most 12 files a folder of src, tests apart", check: foldersAreSmall },
  { name: "at most 400 lines a file", check: filesAreShort },
];

/** "src/intent/store.ts:12: what is wrong and what to do", one a line. */
export function formatViolations(violations: readonly Violation[]): string {
  return violations
    .map(({ path, line, message }) => `${path}${line === undefined ? "" : `:${line}`}: ${message}`)
    .join("\n");
}
