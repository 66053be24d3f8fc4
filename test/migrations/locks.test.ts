import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { migrations } from "../../src/db/migrations/list.ts";
import { recordStatements } from "../../src/db/upgrade/recordStatements.ts";

// Squawk judges the migrations after the baseline: none may rewrite a table, or break the version before, which runs
// on until it is replaced.

const LAST_OF_BASELINE = "0117_http";
/** The last migration of version 0.1.0. Databases before it are small, so it may lock a table while it reads all rows. */
const LAST_BEFORE_RELEASE: string | undefined = undefined;

/** The migrator sets both time-outs. */
const SET_BY_MIGRATOR = ["require-lock-timeout", "require-statement-timeout"];
/** Taste, not safety: the schema has texts, its own types of numbers, and statements that run once. */
const TASTE = [
  "prefer-bigint-over-int",
  "prefer-bigint-over-smallint",
  "prefer-identity",
  "prefer-robust-stmts",
  "prefer-text-field",
  "prefer-timestamp-tz",
];
/** Locks that last as long as a reading of the table, or wait for one. */
const SLOW_LOCKS = [
  "constraint-missing-not-valid",
  "require-concurrent-index-creation",
  "require-concurrent-index-deletion",
];

type Finding = { rule_name: string; line: number };

/** What is found, with the first line of its statement. */
function judge(statements: readonly string[], exempt: readonly string[] = []): string[] {
  const squawk = createRequire(import.meta.url)("squawk-cli/js/index.js") as { getBinaryPath(): string };
  const exclude = [...SET_BY_MIGRATOR, ...TASTE, ...exempt].map((rule) => `--exclude=${rule}`);
  const args = ["--assume-in-transaction", "--pg-version=15.0", "--reporter=json", ...exclude];
  const input = `${statements.join(";\n")};\n`;
  // It ends with 1 when it finds something.
  const { stdout, stderr } = spawnSync(squawk.getBinaryPath(), args, { input, encoding: "utf8" });
  if (stdout === "") throw new Error(`squawk did not run: ${stderr}`);
  return (JSON.parse(stdout) as Finding[]).map(
    ({ rule_name, line }) => `${rule_name}: ${input.split("\n")[line]?.trim()}`,
  );
}

const later = migrations.slice(migrations.findIndex(({ name }) => name === LAST_OF_BASELINE) + 1);
const isReleased = (index: number) =>
  LAST_BEFORE_RELEASE !== undefined && index > later.findIndex(({ name }) => name === LAST_BEFORE_RELEASE);

for (const [index, migration] of later.entries())
  test(`${migration.name} rewrites no table and breaks no earlier version`, async () => {
    const statements = await recordStatements(migration);
    assert.ok(statements.length > 0);
    assert.deepEqual(judge(statements, isReleased(index) ? [] : SLOW_LOCKS), []);
  });

test("the judge finds what it is here for", () => {
  const wrong: [rule: string, statement: string][] = [
    ["changing-column-type", "alter table deposit alter column amount_units type text"],
    ["renaming-column", "alter table deposit rename column amount_units to units"],
    ["ban-drop-column", "alter table deposit drop column amount_units"],
    ["ban-drop-table", "drop table deposit"],
    ["adding-required-field", "alter table deposit add column place text not null"],
    ["constraint-missing-not-valid", "alter table deposit add constraint positive check (amount_units > 0)"],
    ["require-concurrent-index-creation", "create index deposit_place on deposit (place)"],
    ["require-concurrent-index-deletion", "drop index deposit_held"],
  ];
  const found = judge([...wrong.map(([, statement]) => statement), "alter table deposit add column place text"]);
  for (const [rule, statement] of wrong) assert.ok(found.includes(`${rule}: ${statement};`), found.join("\n"));
  assert.ok(!found.some((finding) => finding.endsWith("add column place text;")));
});
