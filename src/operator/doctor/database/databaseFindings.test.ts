import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseFindings } from "./databaseFindings.ts";

const verdictOf = (query: string, host = "db.example") => {
  const [found] = databaseFindings({ database: { kind: "postgres", url: `postgres://u:p4ss@${host}/t${query}` } });
  assert.doesNotMatch(found?.found ?? "", /p4ss/);
  return found === undefined ? "none" : `${found.verdict}: ${found.found}`;
};

test("a connection to another machine without TLS, or to any certificate, is a warning", () => {
  assert.match(verdictOf(""), /^warn: .* not encrypted/);
  assert.match(verdictOf("?sslmode=disable"), /^warn: .* not encrypted/);
  assert.match(verdictOf("?sslmode=no-verify"), /^warn: sslmode=no-verify trusts any certificate/);
  assert.match(verdictOf("?sslmode=require&uselibpqcompat=true"), /^warn: sslmode=require trusts/);
});

test("a verified one is fine, and its own CA must be readable", () => {
  for (const query of ["?sslmode=require", "?sslmode=verify-full", "?ssl=true"])
    assert.equal(verdictOf(query), "ok: verified by the public CAs");
  assert.equal(verdictOf("?sslmode=verify-full&sslrootcert=/nowhere"), "fail: /nowhere cannot be read");
  assert.match(verdictOf(`?sslmode=verify-full&sslrootcert=${process.execPath}`), /^ok: verified by/);
});

test("the same machine needs no TLS", () => {
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) assert.equal(verdictOf("", host), "none");
  assert.equal(verdictOf("?host=/var/run/postgresql"), "none");
});
