import assert from "node:assert/strict";
import { test } from "node:test";
import { LANGUAGES, type Locale } from "../src/messages/locales.ts";
import { pluralCategory } from "../src/pluralCategory.ts";

/** Every way in which a rule of these languages can turn. */
const COUNTS = [
  ...Array.from({ length: 1_234 }, (_, count) => count),
  10_000,
  999_999,
  1_000_000,
  1_000_001,
  3_000_000,
];

for (const locale of Object.keys(LANGUAGES) as Locale[])
  test(`a count has the plural category that Intl gives it: ${locale}`, () => {
    const rules = new Intl.PluralRules(locale);
    for (const count of COUNTS) assert.equal(pluralCategory(locale, count), rules.select(count), String(count));
  });
