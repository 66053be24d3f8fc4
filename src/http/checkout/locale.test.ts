import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseLocale } from "./locale.ts";

const LOCALES = ["en", "de", "pt", "zh"];
const choose = (acceptLanguage?: string, option?: string) => chooseLocale({ option, acceptLanguage }, LOCALES);

test("the option goes before the browser's languages, and those by their quality", () => {
  assert.equal(choose("de", "pt"), "pt");
  assert.equal(choose("fr, pt;q=0.5, de;q=0.9"), "de");
  assert.equal(choose("de;q=0, pt;q=0.1"), "pt");
  assert.equal(choose("pt-BR,pt;q=0.9,en;q=0.8"), "pt");
  assert.equal(choose("ZH-Hant-TW"), "zh");
});

test("without a match it is English", () => {
  for (const header of [undefined, "", "fr", "*", "den", ";q=1", "q=1,,,", `${"x,".repeat(10_000)}de`])
    assert.equal(choose(header), "en", header?.slice(0, 20));
  assert.equal(choose(undefined, "xx"), "en");
  assert.equal(choose("de", "xx"), "de");
});
