import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import type { Json } from "../support/api.ts";
import { DOCUMENT } from "../support/assertDocumented.ts";

// All operation tests run in this process, so that the server and its database start once and not
// a hundred times. Each also runs alone: node --test test/http/<operationId>/<status>.test.ts.

const found = globSync("*/*.test.ts", { cwd: import.meta.dirname }).toSorted();
for (const path of found) await import(new URL(path, import.meta.url).href);

test("http: each documented status of an operation has a test file, and no other status has one", () => {
  const documented = Object.values<Json>(DOCUMENT.paths)
    .flatMap((methods) => Object.values<Json>(methods))
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId}/${status}.test.ts`),
    );
  const ofStatuses = found.filter((path) => /\/\d{3}\.test\.ts$/.test(path));
  assert.deepEqual(ofStatuses, documented.toSorted());
});

test("http: the tests cover every operation", () => {
  const operations = globSync("*.ts", { cwd: new URL("../../src/http/operations", import.meta.url) });
  const tested = new Set(found.map((path) => path.split("/")[0]));
  assert.equal(tested.size, operations.filter((file) => !file.endsWith(".test.ts")).length);
});
