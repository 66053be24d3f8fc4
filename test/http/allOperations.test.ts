import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import type { Json } from "../support/api.ts";
import { DOCUMENT } from "../support/assertDocumented.ts";

// The tests of the operations run together in this one process, so that the server and its database start once and not
// a hundred times. Each of them can also be run alone: node --test test/http/<operationId>/<status>.test.ts.

const found = globSync("*/*.test.ts", { cwd: import.meta.dirname }).toSorted();
for (const path of found) await import(new URL(path, import.meta.url).href);

test("http: each status that an operation is documented to answer with has its file of tests, and no other has", () => {
  const documented = Object.values<Json>(DOCUMENT.paths)
    .flatMap((methods) => Object.values<Json>(methods))
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId}/${status}.test.ts`),
    );
  const ofStatuses = found.filter((path) => /\/\d{3}\.test\.ts$/.test(path));
  assert.deepEqual(ofStatuses, documented.toSorted());
});

test("http: as many operations are tested as there are", () => {
  const operations = globSync("*.ts", { cwd: new URL("../../src/http/operations", import.meta.url) });
  const tested = new Set(found.map((path) => path.split("/")[0]));
  assert.equal(tested.size, operations.filter((file) => !file.endsWith(".test.ts")).length);
});
