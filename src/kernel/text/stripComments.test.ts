import assert from "node:assert/strict";
import { test } from "node:test";
import { stripComments } from "./stripComments.ts";

test("comments become spaces, and strings with slashes or quotes stay", () => {
  const text = '// first\n{"url": "https://a.example/\\"//", // "b": 1\n"c": "//"}//';
  const stripped = stripComments(text);
  assert.equal(stripped, '        \n{"url": "https://a.example/\\"//",          \n"c": "//"}  ');
  assert.equal(stripped.length, text.length);
  assert.deepEqual(JSON.parse(stripped), { url: 'https://a.example/"//', c: "//" });
});

test("an open string hides no comment of the next line", () => {
  assert.equal(stripComments('"open //\n// comment'), '"open //\n          ');
});
