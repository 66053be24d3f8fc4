import assert from "node:assert/strict";
import { test } from "node:test";
import { createCodebase, type Codebase } from "./codebase.ts";
import {
  dependenciesHaveReasons,
  foldersAreDescribed,
  glossaryIsUsed,
  readmeCountsOperations,
  stationTablesAreDescribed,
} from "./documents.ts";
import { FOUNDATION } from "./stationOrder.ts";

function codebase(files: Record<string, string>): Codebase {
  return createCodebase(Object.entries(files));
}

const pathsOf = (found: readonly { path: string }[]) => found.map(({ path }) => path);

test("documents: a README with another number of operations is a violation", () => {
  const operations = {
    "src/http/operations/things/a.ts": "",
    "src/http/operations/things/b.ts": "",
    "src/http/operations/things/b.test.ts": "",
  };
  const counted = (text: string) => readmeCountsOperations(codebase({ ...operations, "README.md": text }));
  assert.deepEqual(counted("Two operations: create, read."), []);
  assert.deepEqual(pathsOf(counted("Nine operations: create, read.")), ["README.md"]);
  assert.deepEqual(pathsOf(counted("Operations.")), ["README.md"]);
});

test("documents: a dependency without a reason is a violation, and so is a reason without its dependency", () => {
  const source = codebase({
    "package.json": '{ "dependencies": { "pg": "1", "@tributary/inbox": "1" }, "devDependencies": { "knip": "1" } }',
    "packages/inbox/package.json": '{ "dependencies": { "noble": "1" } }',
    "docs/why/001-parts.md": "| dependency | reason |\n|---|---|\n| `pg` | It is known. |\n| `gone` | It was. |\n",
  });
  assert.deepEqual(
    dependenciesHaveReasons(source).map(({ message }) => /"\w+"/.exec(message)?.[0]),
    ['"noble"', '"gone"'],
  );
});

test("documents: a folder that the diagram leaves out is a violation", () => {
  const files = { "src/kernel/a.ts": "", "src/intent/b.ts": "" };
  const missing = (diagram: string) =>
    foldersAreDescribed(codebase({ ...files, "ARCHITECTURE.md": `\n\`\`\`\n${diagram}\n\`\`\`\n` }))
      .filter(({ path }) => path === "ARCHITECTURE.md")
      .map(({ message }) => message);
  assert.deepEqual(missing("kernel → intent"), []);
  assert.equal(missing("kernel").length, 1);
  assert.equal(missing("kernel → intent → view").length, 1);
});

test("documents: the table of stations names the tables that each station writes", () => {
  const described = (cell: string) =>
    stationTablesAreDescribed(
      codebase({
        "src/db/migrations/0001.ts":
          'const s = ["create table intent ()", "create table event ()", "create table deposit ()"];',
        "src/intent/store.ts": 'db.insertInto("intent")',
        "src/event/append.ts": 'db.insertInto("event")',
        "ARCHITECTURE.md": `## The stations\n\n| \`intent\` | the price | ${cell} |\n\n## The next\n`,
      }),
    ).length;
  assert.equal(described("`intent`, and `totals`"), 0);
  assert.equal(described("nothing"), 1);
  assert.equal(described("`intent`, `event`"), 1);
  assert.equal(described("`intent`, `deposit`"), 0, "no code writes it, so a trigger may");
});

test("documents: a word of the glossary that nothing else says is a violation", () => {
  const foundation = `| **foundation** | The folders below: ${FOUNDATION.join(", ")}. |\n`;
  const glossary = (words: string) =>
    glossaryIsUsed(
      codebase({
        "src/intent/a.ts": "/** Dust, of the page_origin. The foundation. */",
        "GLOSSARY.md": `${foundation}${words}`,
      }),
    ).length;
  assert.equal(glossary("| **dust** | small |\n| **page origin** | a web page |\n"), 0);
  assert.equal(glossary("| **dust**, **slip** | small |\n"), 1);
  assert.equal(
    glossaryIsUsed(codebase({ "GLOSSARY.md": "| **foundation** | The folders below: kernel. |" })).length,
    8,
  );
});
