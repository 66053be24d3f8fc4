import assert from "node:assert/strict";
import { test } from "node:test";
import { maskSource } from "./maskSource.ts";

function collapseWhitespace(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

test("layers: no layer contains comments", () => {
  const { code, strings, withoutComments } = maskSource("a(); // b()\n/* c() */ d();");
  assert.deepEqual([code, strings, withoutComments].map(collapseWhitespace), ["a(); d();", "", "a(); d();"]);
});

test("layers: a string is not code, and comment marks inside a string stay", () => {
  const { code, strings } = maskSource(`get("https://x", 'it\\'s');`);
  assert.equal(collapseWhitespace(code), "get( , );");
  assert.equal(collapseWhitespace(strings), `"https://x" 'it\\'s'`);
});

test("layers: an expression inside a template is code, even with nested templates and braces", () => {
  const { code, strings } = maskSource("sql`select ${f({ a: `in ${g()}` })} now()`; h();");
  assert.equal(collapseWhitespace(code), "sql f({ a: g() }) ; h();");
  assert.equal(collapseWhitespace(strings), "`select ${ `in ${ }` } now()`");
});

test("layers: the preceding code decides whether a slash divides or starts a regular expression", () => {
  assert.equal(collapseWhitespace(maskSource("x = a / b; y = c / d;").code), "x = a / b; y = c / d;");
  assert.equal(collapseWhitespace(maskSource(`x = /["'\`/]/.test(y); z();`).code), "x = .test(y); z();");
});

test("layers: every layer has the source's length and line breaks", () => {
  const source = "const a = `one\ntwo`; // three\n/* four\nfive */ b('𝄞');\n";
  for (const layer of Object.values(maskSource(source))) {
    assert.equal(layer.length, source.length);
    assert.equal(layer.split("\n").length, source.split("\n").length);
  }
});
