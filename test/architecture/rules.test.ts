import assert from "node:assert/strict";
import { test } from "node:test";
import { blockCountsAreNoTimes } from "./blockCounts.ts";
import { evmWordsStayInTheirKind } from "./chainKinds.ts";
import { findImportCycles, noImportCycles } from "./importCycles.ts";
import { createCodebase, type Codebase, type Violation } from "./codebase.ts";
import { importsFollowOrder, noBarrels, importsAreParsed, stationImports, stationsAreKnown } from "./imports.ts";
import { errorCodesHavePages, faultCodes, operationsHaveTests } from "./companionFiles.ts";
import { impurityStaysInPorts } from "./ports.ts";
import { testsRepeatTheirValues } from "./randomValues.ts";
import { formatViolations } from "./rules.ts";
import { filesAreShort, foldersAreShallow, foldersAreSmall } from "./size.ts";
import {
  inboxesAreReadFromTheirTable,
  sqlIsPure,
  tablesHaveOneWriter,
  tablesOf,
  tableTypesAreInTheirStation,
} from "./tables.ts";

function codebase(files: Record<string, string>): Codebase {
  return createCodebase(Object.entries(files));
}

function violationPlaces(violations: readonly Violation[]): string[] {
  return violations.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`));
}

test("reading: the parser finds every form of import and ignores imports inside strings and comments", () => {
  const text = [
    'import "./a.ts";',
    'import { b, type B } from "./b.ts";',
    'import type { C } from "../c.ts";',
    'import * as d from "d";',
    "import {\n  e,\n} from './e.ts';",
    'export { f } from "./f.ts";',
    'const g = await import("./g.ts");',
    `const h = 'import { h } from "./h.ts"';`,
    '// import { i } from "./i.ts";',
  ].join("\n");
  const [source] = codebase({ "src/intent/x.ts": text }).sources;
  assert.deepEqual(
    source?.imports.map(({ specifier, target, line }) => [specifier, target, line]),
    [
      ["./a.ts", "src/intent/a.ts", 1],
      ["./b.ts", "src/intent/b.ts", 2],
      ["../c.ts", "src/c.ts", 3],
      ["d", undefined, 4],
      ["./e.ts", "src/intent/e.ts", 5],
      ["./f.ts", "src/intent/f.ts", 8],
      ["./g.ts", "src/intent/g.ts", 9],
    ],
  );
});

test("reading: a codebase without imports is a violation", () => {
  assert.deepEqual(violationPlaces(importsAreParsed(codebase({}))), ["src"]);
  assert.deepEqual(violationPlaces(importsAreParsed(codebase({ "src/kernel/a.ts": "export const a = 1;" }))), ["src"]);
  assert.deepEqual(importsAreParsed(codebase({ "src/kernel/a.ts": 'import "b";' })), []);
});

test("reading: a file whose imports the patterns miss is a violation", () => {
  const odd = codebase({ "src/kernel/a.ts": 'import "b";', "src/kernel/c.ts": "import d = e;" });
  assert.deepEqual(violationPlaces(importsAreParsed(odd)), ["src/kernel/c.ts"]);
});

test("order: an import of a later station is a violation; imports of earlier stations and the foundation are allowed", () => {
  const source = codebase({
    "src/intent/a.ts":
      'import "../kernel/ids.ts";\nimport "../merchant/account.ts";\nimport "../settlement/deliver.ts";',
    "src/kernel/b.ts": 'import "../ledger/post.ts";',
    "packages/inbox/src/c.ts": 'import "../../../src/kernel/ids.ts";',
    "src/watch/d.ts": 'import "@tributary/inbox/terms";',
  });
  assert.deepEqual(violationPlaces(importsFollowOrder(source)), [
    "src/intent/a.ts:3",
    "src/kernel/b.ts:1",
    "packages/inbox/src/c.ts:1",
  ]);
});

test("order: the service must not import tests or tools, and a test may import anything", () => {
  const source = codebase({
    "src/intent/a.ts": 'import "../../test/support/world.ts";',
    "src/intent/b.ts": 'import "./a.test.ts";',
    "src/intent/a.test.ts": 'import "../settlement/deliver.ts";\nimport "../../test/support/world.ts";',
  });
  assert.deepEqual(violationPlaces(importsFollowOrder(source)), ["src/intent/a.ts:1", "src/intent/b.ts:1"]);
});

test("order: a folder outside the station order is a violation", () => {
  assert.deepEqual(violationPlaces(stationsAreKnown(codebase({ "src/utils/a.ts": "", "src/intent/b.ts": "" }))), [
    "src/utils/a.ts",
  ]);
});

test("order: stationImports lists each imported station once, in station order", () => {
  const source = codebase({
    "src/intent/a.ts": 'import "../merchant/x.ts";\nimport "../kernel/y.ts";',
    "src/intent/b.ts": 'import "../kernel/z.ts";\nimport "./a.ts";',
  });
  assert.deepEqual([...stationImports(source)], [["intent", ["kernel", "merchant"]]]);
});

test("cycles: a cycle of files is found with its path, and a diamond is not a cycle", () => {
  const cycle = codebase({
    "src/intent/a.ts": 'import type { B } from "./b.ts";',
    "src/intent/b.ts": 'import "./c.ts";',
    "src/intent/c.ts": 'import "./a.ts";',
  });
  assert.deepEqual(findImportCycles(cycle), [
    ["src/intent/a.ts", "src/intent/b.ts", "src/intent/c.ts", "src/intent/a.ts"],
  ]);
  assert.equal(noImportCycles(cycle).length, 1);
  const diamond = codebase({
    "src/intent/a.ts": 'import "./b.ts";\nimport "./c.ts";',
    "src/intent/b.ts": 'import "./d.ts";',
    "src/intent/c.ts": 'import "./d.ts";',
    "src/intent/d.ts": "export const d = 1;",
  });
  assert.deepEqual(findImportCycles(diamond), []);
});

test("barrels: a file that only re-exports is a violation, and so is export *", () => {
  const source = codebase({
    "src/intent/index.ts": 'export { a } from "./a.ts";\nexport type { B } from "./b.ts";',
    "src/intent/all.ts": 'export * from "./a.ts";\nexport const c = 1;',
    "src/intent/fine.ts": 'export { a } from "./a.ts";\nexport function d() {}',
  });
  assert.deepEqual(violationPlaces(noBarrels(source)), ["src/intent/index.ts", "src/intent/all.ts"]);
});

test("ports: each impurity outside its port is a violation", () => {
  const impure = {
    time: "const t = Date.now();",
    again: "const t = new Date();",
    dates: "const t = new Date(0);",
    machineClock: "const t = systemClock.now();",
    timers: "setTimeout(f, 1);",
    randomness: "const r = Math.random();",
    environment: "const e = process.env;",
    network: "await fetch(url);",
    timersPackage: 'import * as timers from "node:timers/promises";',
    networkPackage: 'import { request } from "undici";',
  };
  for (const [name, text] of Object.entries(impure)) {
    const source = codebase({ [`src/intent/${name}.ts`]: text, [`src/intent/${name}.test.ts`]: text });
    assert.deepEqual(violationPlaces(impurityStaysInPorts(source, [])), [`src/intent/${name}.ts:1`], name);
  }
  const pure =
    'import type { IncomingMessage } from "node:http";\n' +
    "clock.now(); timer.setTimeout(1); driver.fetch(url); // Date.now() and fetch(url)\nconst s = 'process.env';";
  assert.deepEqual(impurityStaysInPorts(codebase({ "src/intent/a.ts": pure }), []), []);
});

test("ports: a port may use only its listed impurities, and an unused permission is a violation", () => {
  const clock = { path: "src/kernel/clock.ts", allowed: ["time"], reason: "it is the clock" } as const;
  assert.deepEqual(impurityStaysInPorts(codebase({ "src/kernel/clock.ts": "Date.now();" }), [clock]), []);
  assert.equal(
    impurityStaysInPorts(codebase({ "src/kernel/clock.ts": "Date.now();\nMath.random();" }), [clock])[0]?.line,
    2,
  );
  assert.match(
    formatViolations(impurityStaysInPorts(codebase({ "src/kernel/clock.ts": "" }), [clock])),
    /no longer needs time/,
  );
  assert.deepEqual(impurityStaysInPorts(codebase({ "src/intent/a.ts": "" }), [clock]), []);
});

test("random values: a test seeds what it draws; what is no test, and a bench, may draw anything", () => {
  const drawn = 'import fc from "fast-check";\nconst a = Math.random(); // randomBytes(1)\nconst b = randomBytes(1);';
  const source = codebase({
    "src/intent/a.test.ts": drawn,
    "test/support/properties.ts": 'import fastCheck from "fast-check";',
    "test/bench/b.ts": "const b = randomBytes(1);",
    "src/kernel/entropy.ts": "const b = randomBytes(1);",
  });
  assert.deepEqual(
    violationPlaces(testsRepeatTheirValues(source)),
    [1, 2, 3].map((line) => `src/intent/a.test.ts:${line}`),
  );
});

test("SQL: database time and randomness are violations; the clock's now() is allowed", () => {
  for (const sql of ["values (now())", "default CURRENT_TIMESTAMP", "gen_random_uuid()", "order by random()"]) {
    assert.equal(sqlIsPure(codebase({ "src/intent/store.ts": `const q = sql\`${sql}\`;` })).length, 1, sql);
  }
  const fine = "const q = sql`values (${clock.now()}, current_timestamps)`; // now()";
  assert.deepEqual(sqlIsPure(codebase({ "src/intent/store.ts": fine })), []);
});

const MIGRATION = {
  "src/db/migrations/0001.ts":
    'const s = ["create table intent (id text)", "create table event (id text)"];\nx.createTable("deposit");',
};

test("tables: the migrations' tables are found in SQL and in the query builder", () => {
  assert.deepEqual([...tablesOf(codebase(MIGRATION))].toSorted(), ["deposit", "event", "intent"]);
  assert.equal(tablesHaveOneWriter(codebase({ "src/db/migrations/0001.ts": "const s = [];" })).length, 1);
});

test("tables: a second writer is a violation, in SQL and in the query builder", () => {
  const writes = [
    'db.insertInto("intent")',
    'db.updateTable("intent as i")',
    'db.deleteFrom("intent")',
    "sql`update intent i set a = 1`",
    'sql`insert into "intent"`',
    "sql`delete from intent`",
  ];
  for (const write of writes) {
    const source = codebase({
      ...MIGRATION,
      "src/intent/store.ts": 'db.insertInto("intent")',
      "src/view/store.ts": write,
    });
    assert.match(
      formatViolations(tablesHaveOneWriter(source)),
      /"intent" is written by src\/intent\/store.ts and src\/view\/store.ts/,
      write,
    );
  }
});

test("tables: a row type in another station than the writer's is a violation", () => {
  const types = 'declare module "../db/schema.ts" {\n  interface Schema {\n    intent: IntentTable;\n  }\n}';
  const files = { ...MIGRATION, "src/intent/store.ts": 'db.insertInto("intent")' };
  const inStation = codebase({ ...files, "src/intent/intentTables.ts": types });
  assert.deepEqual(tableTypesAreInTheirStation(inStation), []);
  const elsewhere = codebase({ ...files, "src/view/viewTables.ts": types });
  assert.match(
    formatViolations(tableTypesAreInTheirStation(elsewhere)),
    /viewTables.ts:2: .*"intent", which intent writes/,
  );
});

test("tables: a write with a table parameter counts for every table that the file names", () => {
  const text = 'type Table = "event" | "intent";\nconst write = (table: Table) => db.updateTable(table).set({ a: 1 });';
  const source = codebase({
    ...MIGRATION,
    "src/intent/store.ts": 'db.insertInto("intent")',
    "src/view/store.ts": text,
  });
  assert.match(
    formatViolations(tablesHaveOneWriter(source)),
    /"intent" is written by src\/intent\/store.ts and src\/view\/store.ts/,
  );
  const reads = text.replace("updateTable", "selectFrom");
  assert.deepEqual(
    tablesHaveOneWriter(
      codebase({ ...MIGRATION, "src/intent/store.ts": 'db.insertInto("intent")', "src/view/store.ts": reads }),
    ),
    [],
  );
});

test("tables: only a store writes a station's table, and any one file of the foundation writes its own", () => {
  const source = codebase({
    ...MIGRATION,
    "src/intent/create.ts": '\ndb.insertInto("intent")',
    "src/event/append.ts": 'db.insertInto("event")',
  });
  assert.deepEqual(violationPlaces(tablesHaveOneWriter(source)), ["src/intent/create.ts:2"]);
});

test("tables: reads, locks and upserts do not count as writes of other tables", () => {
  const text =
    'db.selectFrom("event"); sql`select 1 from deposit for update skip locked`; sql`insert into intent values (1) on conflict (id) do update set id = 2`;';
  assert.deepEqual(tablesHaveOneWriter(codebase({ ...MIGRATION, "src/intent/store.ts": text })), []);
});

test("inboxes: SQL with the pinned address is a violation outside listed exceptions, and so is an unused exception", () => {
  const text = "sql`select id from intent where inbox_address = ${address}`; const shown = intent.inbox_address;";
  const source = codebase({
    "src/db/migrations/0001.ts": text,
    "src/view/store.ts": `\n${text}`,
    "src/view/shown.ts": "const shown = intent.inbox_address; // inbox_address",
    "src/view/store.test.ts": text,
  });
  assert.deepEqual(violationPlaces(inboxesAreReadFromTheirTable(source, [])), ["src/view/store.ts:2"]);
  assert.deepEqual(inboxesAreReadFromTheirTable(source, [{ path: "src/view/store.ts" }]), []);
  assert.deepEqual(
    violationPlaces(
      inboxesAreReadFromTheirTable(source, [{ path: "src/view/store.ts" }, { path: "src/view/shown.ts" }]),
    ),
    ["src/view/shown.ts"],
  );
});

test("operations: a handler without tests and tests without a handler are violations", () => {
  const source = codebase({
    "src/http/operations/things/createThing.ts": "",
    "src/http/operations/things/getThing.ts": "",
    "src/http/operations/things/getThing.test.ts": "",
    "test/http/getThing/200.test.ts": "",
    "test/http/listThings/200.test.ts": "",
  });
  assert.deepEqual(violationPlaces(operationsHaveTests(source)), [
    "src/http/operations/*/createThing.ts",
    "test/http/listThings",
  ]);
});

test("error codes: a code without a page and a page without a code are violations", () => {
  const faults =
    "const ROWS = {\n  not_found: { status: 404 },\n  gone: {\n    status: 410,\n  },\n} as const;\nconst other = {\n  x: {},\n};\n";
  assert.deepEqual(faultCodes(faults), ["not_found", "gone"]);
  const source = codebase({
    "src/kernel/faults.ts": faults,
    "docs/errors/gone.md": "",
    "docs/errors/lost.md": "",
    "docs/errors/README.md": "",
  });
  assert.deepEqual(violationPlaces(errorCodesHavePages(source)), ["src/kernel/faults.ts", "docs/errors/lost.md"]);
  assert.equal(errorCodesHavePages(codebase({ "src/kernel/faults.ts": "export const nothing = 1;" })).length, 1);
});

test("size: the 401st line and the fourth folder are violations", () => {
  const lines = (count: number) => "a();\n".repeat(count);
  assert.deepEqual(violationPlaces(filesAreShort(codebase({ "src/a.ts": lines(400), "src/b.ts": lines(401) }))), [
    "src/b.ts",
  ]);
  assert.deepEqual(violationPlaces(foldersAreShallow(codebase({ "src/a/b/c/d.ts": "", "src/a/b/c/d/e.ts": "" }))), [
    "src/a/b/c/d/e.ts",
  ]);
});

test("size: the thirteenth file of a folder is a violation, except tests and growing lists", () => {
  const files = (folder: string, count: number, ending = ".ts") =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/f${index}${ending}`, ""]));
  const small = { ...files("src/a", 12), ...files("src/a", 5, ".test.ts"), ...files("src/db/migrations", 20) };
  assert.deepEqual(foldersAreSmall(codebase(small)), []);
  assert.deepEqual(violationPlaces(foldersAreSmall(codebase(files("src/a", 13)))), ["src/a"]);
});

test("chain kinds: an EVM word in neutral code, strings or comments is a violation", () => {
  const source = codebase({
    "src/watch/a.ts": "export const gasLimit = 1;",
    "src/loops/b.ts": "// the nonce\nexport const at = row.log_index;",
    "src/settlement/c.ts": "export const hub = `0x00`;\nexport const logIndexLast = 2;",
    "src/chain/d.ts": "export type TransactionReceipt = {};",
    "src/chain/evm/e.ts": "export const nonce = 1;",
    "src/operator/f.ts": "export const gas = 1;",
    "src/watch/g.test.ts": "const nonce = 1;",
    "src/watch/h.ts": "export const place = 1;",
  });
  assert.deepEqual(violationPlaces(evmWordsStayInTheirKind(source, [])), [
    "src/watch/a.ts:1",
    "src/loops/b.ts:1",
    "src/loops/b.ts:2",
    "src/settlement/c.ts:1",
    "src/settlement/c.ts:2",
    "src/chain/d.ts:1",
  ]);
});

test("chain kinds: an exception allows one word in one file, and an unused exception is a violation", () => {
  const source = codebase({ "src/watch/a.ts": "export const nonce = 1;\nexport const gas = 2;" });
  const exceptions = [
    { path: "src/watch/a.ts", word: "nonce", reason: "a test" },
    { path: "src/watch/a.ts", word: "receipt", reason: "a test" },
  ];
  assert.deepEqual(violationPlaces(evmWordsStayInTheirKind(source, exceptions)), [
    "src/watch/a.ts:2",
    "src/watch/a.ts",
  ]);
});

test("block counts: a constant that counts blocks is found outside the kinds of chains and the configuration, unless it is listed", () => {
  const files = {
    "src/watch/a.ts": "const DEPTH_BLOCKS = 16n;\nexport const BLOCKS_MAX = 3;\nconst BLOCK_MS = 5;\n",
    "src/chain/evm/b.ts": "const DEPTH_BLOCKS = 16n;",
    "src/config/c.ts": "const DEPTH_BLOCKS = 16n;",
    "src/watch/a.test.ts": "const OUTAGE_BLOCKS = 16n;",
  };
  assert.deepEqual(violationPlaces(blockCountsAreNoTimes(codebase(files), [])), [
    "src/watch/a.ts:1",
    "src/watch/a.ts:2",
  ]);
  const listed = [{ path: "src/watch/a.ts", name: "BLOCKS_MAX", reason: "the size of a request" }];
  assert.deepEqual(violationPlaces(blockCountsAreNoTimes(codebase(files), listed)), ["src/watch/a.ts:1"]);
  const stale = [...listed, { path: "src/watch/gone.ts", name: "BLOCKS_MAX", reason: "" }];
  assert.deepEqual(violationPlaces(blockCountsAreNoTimes(codebase(files), stale)), [
    "src/watch/a.ts:1",
    "src/watch/gone.ts",
  ]);
});
