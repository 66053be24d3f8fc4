import assert from "node:assert/strict";
import { test } from "node:test";
import { MERCHANT_MESSAGES } from "../src/languages/load.ts";
import { merchantMessages } from "../src/merchant/messages.ts";

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
/** Names that stay as they are in every language. */
const CODE =
  /\b(?:dashboard:(?:read|manage)|webhooks:manage|tributary [a-z]+(?: [a-z]+)?|payment\.json|PATCH \/account|deposit\.\*|owner|developer|UTC)/g;

for (const [locale, messages] of Object.entries(MERCHANT_MESSAGES))
  test(`every text of ${locale} has the placeholders and the code of the English one`, () => {
    assert.deepEqual(Object.keys(messages).toSorted(), Object.keys(merchantMessages).toSorted());
    for (const [key, english] of Object.entries(merchantMessages)) {
      const text = String(messages[key as keyof typeof messages]);
      assert.ok(text.trim() !== "", key);
      assert.deepEqual(placeholders(text), placeholders(english), key);
      for (const code of english.match(CODE) ?? []) assert.ok(text.includes(code), `${key} lacks ${code}`);
      assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text), "direction is the page's own");
    }
  });
