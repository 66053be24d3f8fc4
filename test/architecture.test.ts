import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readHouse } from "./architecture/house.ts";
import { describe, RULES } from "./architecture/rules.ts";

const house = readHouse(fileURLToPath(new URL("..", import.meta.url)));

for (const rule of RULES) {
  test(`architecture: ${rule.name}`, () => {
    const violations = rule.check(house);
    if (violations.length > 0) assert.fail(`${violations.length} found:\n${describe(violations)}`);
  });
}
