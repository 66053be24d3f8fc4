import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readConfig } from "./loadConfig.ts";

const FILE = new URL("../../config/testnets.json", import.meta.url);
const KEY = `0x${"1a".repeat(32)}`;

function databaseOf(database: object, variables: Record<string, string> = {}) {
  const file = JSON.parse(readFileSync(FILE, "utf8")) as object;
  const keys = { TRIBUTARY_GAS_KEY_BASE_SEPOLIA: KEY, TRIBUTARY_GAS_KEY_SEPOLIA: KEY };
  return readConfig({ ...file, database }, { variables: { ...keys, ...variables }, directory: "/srv" }).database;
}

test("D52 the file or the environment names the copy of the database", () => {
  const file = { url: "postgres://x/y", replicaUrl: "postgres://z/y" };
  assert.deepEqual(databaseOf(file), { kind: "postgres", ...file });
  const replicaUrl = "postgres://u:p@copy/tributary";
  const variables = { TRIBUTARY_REPLICA_URL: replicaUrl };
  assert.deepEqual(databaseOf(file, variables), { kind: "postgres", url: "postgres://x/y", replicaUrl });
});

test("D52 another database from the environment does not keep the copy of the file's", () => {
  const file = { url: "postgres://x/y", schema: "one", replicaUrl: "postgres://z/y" };
  const url = "postgres://other/y";
  assert.deepEqual(databaseOf(file, { TRIBUTARY_DATABASE_URL: url }), { kind: "postgres", url, schema: "one" });
});

test("D52 a copy needs a PostgreSQL, and its error hides the password", () => {
  assert.throws(
    () => databaseOf({ directory: "z", replicaUrl: "postgres://x/y" }),
    /database\.replicaUrl: the embedded/,
  );
  const wrong = { url: "postgres://x/y", replicaUrl: "mysql://u:secret@db/x" };
  assert.throws(
    () => databaseOf(wrong),
    (error: Error) =>
      /database\.replicaUrl: the value is not accepted/.test(error.message) && !/secret/.test(error.message),
  );
});
