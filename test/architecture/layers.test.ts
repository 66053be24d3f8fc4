import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf } from "./layers.ts";

function squeezed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

test("layers: a comment is in none of them", () => {
  const { code, texts, withoutComments } = layersOf("a(); // b()\n/* c() */ d();");
  assert.deepEqual([code, texts, withoutComments].map(squeezed), ["a(); d();", "", "a(); d();"]);
});

test("layers: a text is no code, and what looks like a comment inside it stays", () => {
  const { code, texts } = layersOf(`get("https://x", 'it\\'s');`);
  assert.equal(squeezed(code), "get( , );");
  assert.equal(squeezed(texts), `"https://x" 'it\\'s'`);
});

test("layers: an expression inside a template is code, also when templates and braces nest", () => {
  const { code, texts } = layersOf("sql`select ${f({ a: `in ${g()}` })} now()`; h();");
  assert.equal(squeezed(code), "sql f({ a: g() }) ; h();");
  assert.equal(squeezed(texts), "`select ${ `in ${ }` } now()`");
});

test("layers: a slash divides or starts a regular expression by what stands before it", () => {
  assert.equal(squeezed(layersOf("x = a / b; y = c / d;").code), "x = a / b; y = c / d;");
  assert.equal(squeezed(layersOf(`x = /["'\`/]/.test(y); z();`).code), "x = .test(y); z();");
});

test("layers: all have the length and the lines of the source", () => {
  const source = "const a = `one\ntwo`; // three\n/* four\nfive */ b('𝄞');\n";
  for (const layer of Object.values(layersOf(source))) {
    assert.equal(layer.length, source.length);
    assert.equal(layer.split("\n").length, source.split("\n").length);
  }
});
