import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readCodebase } from "./architecture/codebase.ts";
import { ROOT_DOCUMENTS } from "./architecture/documents.ts";
import { formatViolations, ARCHITECTURE_RULES } from "./architecture/rules.ts";

const house = readCodebase(fileURLToPath(new URL("..", import.meta.url)), ROOT_DOCUMENTS);

for (const rule of ARCHITECTURE_RULES) {
  test(`architecture: ${rule.name}`, () => {
    const violations = rule.check(house);
    if (violations.length > 0) assert.fail(`${violations.length} found:\n${formatViolations(violations)}`);
  });
}
