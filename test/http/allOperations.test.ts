import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import type { Json } from "../support/api.ts";
import { DOCUMENT } from "../support/assertDocumented.ts";

// All operation tests run in this process, so that the server and its database start once and not
// for each. Each also runs alone: node --test test/http/<operationId>/<status>.test.ts.

const found = globSync("*/*.test.ts", { cwd: import.meta.dirname }).toSorted();
for (const path of found) await import(new URL(path, import.meta.url).href);

/** `operationRules.test.ts` shows these of every operation; a file of an operation adds what only it has. */
const STATUSES_OF_RULES = /\/(?:400|401|403|404|413|429|500)\.test\.ts$/;

test("http: each documented status of an operation has a test, and no other status has a file", () => {
  const documented = Object.values<Json>(DOCUMENT.paths)
    .flatMap((methods) => Object.values<Json>(methods))
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId}/${status}.test.ts`),
    );
  const ofStatuses = found.filter((path) => /\/\d{3}\.test\.ts$/.test(path));
  assert.deepEqual(
    documented.filter((path) => !STATUSES_OF_RULES.test(path) && !ofStatuses.includes(path)),
    [],
  );
  assert.deepEqual(
    ofStatuses.filter((path) => !documented.includes(path)),
    [],
  );
});

test("http: the tests cover every operation", () => {
  const operations = globSync("*/*.ts", { cwd: new URL("../../src/http/operations", import.meta.url) });
  const tested = new Set(found.map((path) => path.split("/")[0]));
  assert.equal(tested.size, operations.filter((file) => !file.endsWith(".test.ts")).length);
});
