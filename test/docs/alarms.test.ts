import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ALARMS, alarmRow, type AlarmName } from "../../src/kernel/alarm/alarmTable.ts";
import { readCodebase, isTest } from "../architecture/codebase.ts";
import { renderAlarms } from "./renderAlarms.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("docs/operate/alarms.md is generated from the table of alarms", () => {
  const page = readFileSync(`${ROOT}/docs/operate/alarms.md`, "utf8");
  assert.equal(page, renderAlarms(), "run node scripts/alarms.ts");
});

test("code raises exactly the alarms of the table, and every remedy names a command", () => {
  const sources = readCodebase(ROOT).sources.filter(({ path }) => path.startsWith("src/") && !isTest(path));
  const raising = sources
    .filter(({ path }) => !path.includes("alarmTable"))
    .map(({ path }) => readFileSync(`${ROOT}/${path}`, "utf8"));
  for (const name of Object.keys(ALARMS) as AlarmName[]) {
    assert.ok(
      raising.some((text) => text.includes(`"${name}"`)),
      `${name} is raised nowhere`,
    );
    const { remedy } = alarmRow(name);
    assert.match(remedy, /`[^`]+`/, `the remedy of ${name}`);
  }
  for (const text of raising) {
    assert.doesNotMatch(text, /log\.error\(\s*\{\s*alarm:/, "alarms are raised with raiseAlarm");
    for (const [, name = ""] of text.matchAll(/\balarm: "(\w+)"/g)) assert.ok(Object.hasOwn(ALARMS, name), name);
  }
});
