import type { Codebase, Violation } from "./codebase.ts";

// Every operation has a handler and tests of its name, and every error code has a page of its name.

const OPERATION_FILE = /^src\/http\/operations\/[^/]+\/(?<name>[^/]+?)(?<test>\.test)?\.ts$/;
const OPERATION_TEST = /^test\/http\/(?<name>[^/]+)\/[^/]+\.test\.ts$/;
const ERROR_PAGE = /^docs\/errors\/(?<name>[^/]+)\.md$/;
const FAULTS = "src/kernel/faults.ts";
/** Pages about all codes. */
const GENERAL_PAGES = new Set(["README", "index"]);

export function operationsHaveTests(codebase: Codebase): Violation[] {
  const operations = matchingNames(codebase, OPERATION_FILE);
  const tested = matchingNames(codebase, OPERATION_TEST);
  const missing = [...operations].filter((name) => !tested.has(name));
  const orphans = [...tested].filter((name) => !operations.has(name));
  return [
    ...missing.map((name) => ({
      path: `src/http/operations/*/${name}.ts`,
      message: `The operation has no test. Add test/http/${name}/<status>.test.ts.`,
    })),
    ...orphans.map((name) => ({
      path: `test/http/${name}`,
      message: `No operation has this name. Rename the folder, or add src/http/operations/*/${name}.ts.`,
    })),
  ];
}

export function errorCodesHavePages(codebase: Codebase): Violation[] {
  const faults = codebase.sources.find((source) => source.path === FAULTS);
  const pages = [...matchingNames(codebase, ERROR_PAGE)].filter((name) => !GENERAL_PAGES.has(name));
  if (faults === undefined) return [];
  const codes = faultCodes(faults.masked.code);
  if (codes.length === 0)
    return [
      {
        path: FAULTS,
        message: "The rule found no error code here. Repair the pattern in test/architecture/companionFiles.ts.",
      },
    ];
  return [
    ...codes
      .filter((code) => !pages.includes(code))
      .map((code) => ({ path: FAULTS, message: `"${code}" has no page. Write docs/errors/${code}.md.` })),
    ...pages
      .filter((page) => !codes.includes(page))
      .map((page) => ({
        path: `docs/errors/${page}.md`,
        message: "No error has this code. Delete or rename the page.",
      })),
  ];
}

/** Reads the error codes: the keys of the ROWS table. */
export function faultCodes(code: string): string[] {
  const table = /\bROWS\b[^=]*=\s*\{(?<rows>[\s\S]*?)\n\}/.exec(code)?.groups?.["rows"] ?? "";
  return [...table.matchAll(/^ {2}(\w+): \{/gm)].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));
}

function matchingNames(codebase: Codebase, pattern: RegExp): Set<string> {
  return new Set(
    codebase.paths.flatMap((path) => {
      const groups = pattern.exec(path)?.groups;
      return groups?.["name"] === undefined || groups["test"] !== undefined ? [] : [groups["name"]];
    }),
  );
}
