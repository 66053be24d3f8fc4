import { isTest, lineNumberAt, type Codebase, type Violation } from "./codebase.ts";
import { IMPURE } from "./ports.ts";

// A test that draws other values each time fails for changes that are not at fault. Benches measure, and may.

const PROPERTIES = "test/support/properties.ts";
const FREE = /^test\/(?:bench|architecture)\//;

export function testsRepeatTheirValues(codebase: Codebase): Violation[] {
  return codebase.sources
    .filter(({ path }) => isTest(path) && !FREE.test(path))
    .flatMap(({ path, masked, imports }) => [
      ...imports
        .filter(({ specifier }) => specifier === "fast-check" && path !== PROPERTIES)
        .map(({ line }) => ({ path, line, message: `imports fast-check; take it from ${PROPERTIES}, which seeds it` })),
      ...[...masked.code.matchAll(IMPURE.randomness)].map((match) => ({
        path,
        line: lineNumberAt(masked.code, match.index),
        message: "draws other values each time; use drawBytes, or SeededRandom with a name",
      })),
    ]);
}
