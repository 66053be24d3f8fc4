import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatDecimal,
  formatUsd,
  linkTarget,
  percentStep,
  plainDecimal,
  scaleUnits,
  shortAddress,
  typedDecimal,
} from "../src/format.ts";
import { LANGUAGES, type Locale } from "../src/messages/locales.ts";
import { buildPaymentUri } from "../src/paymentUri.ts";

test("amounts have a point, two digits at least, and groups without a comma", () => {
  assert.deepEqual(["0", "5", "25.5", "0.000001", "1234.5", "12345", "1234567.123456"].map(formatDecimal), [
    "0.00",
    "5.00",
    "25.50",
    "0.000001",
    "1234.50",
    "12\u202f345.00",
    "1\u202f234\u202f567.123456",
  ]);
  assert.equal(plainDecimal("1234567.1"), "1234567.10");
});

test("an amount in a coin of fewer decimals is rounded up, so that it still reaches the price", () => {
  assert.equal(scaleUnits("25000000", 6, 18), 25_000_000n * 10n ** 12n);
  assert.equal(scaleUnits("25000001", 6, 2), 2_501n);
  assert.equal(scaleUnits("25000000", 6, 2), 2_500n);
});

test("a share is rounded down to a step, between 0 and 100", () => {
  assert.deepEqual(
    [percentStep(0n, 3n), percentStep(1n, 3n), percentStep(3n, 3n), percentStep(4n, 3n)],
    [0, 30, 100, 100],
  );
  assert.equal(percentStep(1n, 0n), 0);
});

test("only known schemes become links", () => {
  assert.equal(linkTarget("https://shop.example/"), "https://shop.example/");
  for (const url of ["javascript:alert(1)", "data:text/html,x", "//evil.example", "", null])
    assert.equal(linkTarget(url), undefined);
  assert.equal(linkTarget("mailto:a@b.example", ["mailto:"]), "mailto:a@b.example");
});

test("the payment URI asks for one transfer", () => {
  const payment = { tokenAddress: "0xT", chainId: 8453, address: "0xA" };
  assert.equal(buildPaymentUri({ ...payment, units: 5n }), "ethereum:0xT@8453/transfer?address=0xA&uint256=5");
  assert.equal(buildPaymentUri({ ...payment, units: null }), "ethereum:0xT@8453/transfer?address=0xA");
});

test("long addresses are shortened, others not", () => {
  assert.equal(shortAddress("0xA41f000000000000000000000000000000000077"), "0xA41f…0077");
  assert.equal(shortAddress("short"), "short");
});

test("a typed amount has a point or a comma, and is none when it is zero, too long or anything else", () => {
  const typed = (text: string) => typedDecimal(text, 6);
  assert.deepEqual(["12", "12.5", "0,000001", " 1\u202f234.50 ", "1,000", "7."].map(typed), [
    "12",
    "12.5",
    "0.000001",
    "1234.5",
    "1",
    "7",
  ]);
  for (const text of ["", "0", "0.00", "1.0000001", "1,000.50", "1e3", "-1", ".5", "1".repeat(13)])
    assert.equal(typed(text), null, text);
});

for (const locale of Object.keys(LANGUAGES) as Locale[])
  test(`dollars are written as Intl writes them, and rounded up to cents: ${locale}`, () => {
    const options = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", numberingSystem: "latn" };
    const format = new Intl.NumberFormat(locale, options as Intl.NumberFormatOptions);
    for (const cents of [0, 1, 9, 10, 99, 100, 101, 1_234, 99_999, 100_000, 1_234_567, 123_456_789])
      assert.equal(formatUsd(String(cents / 100), locale), format.format(cents / 100), String(cents));
    assert.equal(formatUsd("0.0201", locale), format.format(0.03));
  });
