import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../src/messages/en.ts";
import { MESSAGES } from "../src/messages/load.ts";
import { LANGUAGES, type Locale } from "../src/messages/locales.ts";
import { PLURAL_KEYS, TEXT_KEYS } from "../src/messages/messages.ts";
import { createTranslator } from "../src/translator.ts";

const LOCALES = Object.keys(LANGUAGES) as Locale[];

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).toSorted();
}

for (const locale of LOCALES) {
  test(`${locale}: every text has the placeholders of the English one, and no other`, () => {
    const messages = MESSAGES[locale];
    for (const key of TEXT_KEYS) {
      assert.notEqual(messages[key].trim(), "", key);
      assert.deepEqual([...new Set(placeholders(messages[key]))], placeholders(en[key]), key);
    }
    for (const key of PLURAL_KEYS) {
      const allowed = placeholders(en[key].other);
      assert.deepEqual(placeholders(messages[key].other), allowed, key);
      // A form for one number alone may say it in a word.
      for (const form of Object.values(messages[key]))
        assert.ok(
          placeholders(form).every((name) => allowed.includes(name)),
          `${key}: ${form}`,
        );
    }
  });

  test(`${locale}: the forms are those of the language's plural rules`, () => {
    const { pluralCategories } = new Intl.PluralRules(locale).resolvedOptions();
    for (const key of PLURAL_KEYS)
      assert.deepEqual(Object.keys(MESSAGES[locale][key]).toSorted(), pluralCategories.toSorted(), key);
  });
}

test("numbers choose the words", () => {
  const seconds = (locale: Locale, count: number) =>
    createTranslator(locale, MESSAGES[locale])
      .plural("seen.left", count)
      .replaceAll(/[\u2068\u2069]/g, "");
  assert.equal(seconds("en", 1), "About 1 second to go.");
  assert.equal(seconds("en", 20), "About 20 seconds to go.");
  assert.equal(seconds("ru", 21), "Осталась примерно 21 секунда.");
  assert.equal(seconds("ru", 22), "Осталось примерно 22 секунды.");
  assert.equal(seconds("ru", 25), "Осталось примерно 25 секунд.");
  assert.equal(seconds("ar", 2), "بقيت نحو ثانيتين.");
  assert.equal(seconds("ar", 11), "بقي نحو 11 ثانية.");
  assert.equal(seconds("ja", 3), "あと約 3 秒です。");
});

test("values right to left are isolated, so that an amount keeps its order", () => {
  const t = createTranslator("ar", MESSAGES.ar);
  assert.equal(
    t.text("pay.codeAlt", { amount: "5.00 USDC", network: "Base" }),
    "رمز للمسح: \u20685.00 USDC\u2069 على شبكة \u2068Base\u2069",
  );
});
