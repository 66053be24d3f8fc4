import { equal } from "node:assert/strict";
import { test } from "node:test";
import { DatabaseCrashed, DatabaseReadOnly } from "../../db/errors.ts";
import { assert } from "../assert.ts";
import { classifyError, isCausedByData, isDatabaseAway, stopsAllWork, type ErrorClass } from "./classifyError.ts";

function databaseError(code: string, severity = "ERROR"): Error {
  return Object.assign(new Error(code), { code, severity });
}

function brokenInvariant(): unknown {
  try {
    assert(false, "broken");
  } catch (error) {
    return error;
  }
}

const CASES: readonly (readonly [expected: ErrorClass, error: unknown])[] = [
  ["fatal", brokenInvariant()],
  ["fatal", new DatabaseCrashed()],
  ["conflict", databaseError("40001")],
  ["conflict", databaseError("40P01")],
  ["timeout", databaseError("57014")],
  ["unavailable", databaseError("57P01", "FATAL")],
  ["unavailable", databaseError("53300", "FATAL")],
  ["unavailable", databaseError("55P03")],
  ["unavailable", databaseError("XX000", "FATAL")],
  ["unavailable", new DatabaseReadOnly()],
  ["unavailable", Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" })],
  ["unavailable", Object.assign(new Error("no file"), { code: "ENOENT", syscall: "connect" })],
  ["unavailable", new Error("Connection terminated unexpectedly")],
  ["data", databaseError("23514")],
  ["data", databaseError("XX001")],
  ["data", new RangeError("too large")],
  ["other", databaseError("42P01")],
  ["other", databaseError("22003", "FATAL")],
  ["other", Object.assign(new Error("no severity"), { code: "23514" })],
  ["other", new Error("a provider's fault")],
  ["other", undefined],
];

test("each error has one class, and every decision follows from it", () => {
  for (const [expected, error] of CASES) {
    const text = error instanceof Error ? `${error.name} ${error.message}` : String(error);
    equal(classifyError(error), expected, text);
    equal(isCausedByData(error), expected === "data" || expected === "timeout", text);
    equal(isDatabaseAway(error), expected === "unavailable" || expected === "conflict", text);
    equal(stopsAllWork(error), ["fatal", "unavailable", "conflict"].includes(expected), text);
  }
});
