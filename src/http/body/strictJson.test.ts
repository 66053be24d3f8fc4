import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { drawn, fc } from "../../../test/support/properties.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseStrictJson } from "./strictJson.ts";

function parse(text: string | Uint8Array): unknown {
  return parseStrictJson(typeof text === "string" ? Buffer.from(text) : text);
}

function expectFault(code: string, text: string | Uint8Array): Fault {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, String(text).slice(0, 60));
    return error;
  }
  return assert.fail(`accepted: ${String(text).slice(0, 60)}`);
}

/** Parses a decimal text to an integer and the number of decimals. */
function parseDecimal(decimal: string): { units: bigint; decimals: number } {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(decimal) ?? [];
  const decimals = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, -decimals)) * (sign === "-" ? -1n : 1n);
  return { units, decimals: Math.max(0, decimals) };
}

function isSameNumber(one: string, other: string): boolean {
  const [a, b] = [parseDecimal(one), parseDecimal(other)];
  return a.units * 10n ** BigInt(b.decimals) === b.units * 10n ** BigInt(a.decimals);
}

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom("0", "1", "4", "5", "9"), minLength: 1, maxLength });
const anyNumberText = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.constantFrom("0", "1", "9007199254740991", "9007199254740993", "53"),
    digits(18),
    digits(6),
    fc.integer({ min: -30, max: 30 }),
  )
  .chain(([sign, head, more, fraction, exponent]) =>
    fc.constantFrom(
      `${sign}${head}`,
      `${sign}1${more}`,
      `${sign}${head}.${fraction}`,
      `${sign}${head}.${fraction}e${exponent}`,
      `${sign}1${more}E${exponent}`,
    ),
  );

test("D9 an accepted number equals its text exactly", () => {
  fc.assert(
    fc.property(anyNumberText, (text) => {
      let value: unknown;
      try {
        value = parse(`{"n":${text}}`);
      } catch (error) {
        return assert.ok(error instanceof Fault && error.param === "n");
      }
      assert.ok(isSameNumber(text, String(Reflect.get(Object(value), "n"))), text);
    }),
    { numRuns: drawn(100_000) },
  );
});

test("D9 exact numbers are accepted in every notation, and numbers that would be rounded are refused", () => {
  for (const [text, value] of [
    ["5", 5],
    ["5.0", 5],
    ["5e0", 5],
    ["0.10", 0.1],
    ["1e3", 1000],
    ["9007199254740991", 2 ** 53 - 1],
    ["0", 0],
  ]) {
    assert.deepEqual(parse(`{"n":${text}}`), { n: value });
  }
  for (const text of [
    "-0",
    "-0.0",
    "9007199254740993",
    "9007199254740991.4",
    "1e999",
    "1e-999",
    "0.1000000000000000055",
  ]) {
    assert.equal(expectFault("invalid_request", `{"n":${text}}`).param, "n");
  }
});

test("D14 JSON that JSON.parse silently repairs is refused: repeated keys at any depth, __proto__, broken text", () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '{"m":{"x":1,"y":[{"b":1,"b":2}]}}',
    '{"__proto__":1}',
    '{"m":{"\\u005f_proto__":{}}}',
  ]) {
    expectFault("invalid_json", text);
  }
  for (const text of ['{"a":"\\ud800"}', '{"a":"\\u0000"}', '{"\\udc00":1}', '{"m":{"b":["\\u0000"]}}'])
    expectFault("invalid_request", text);
  for (const text of ["", "{", "nul", "{'a':1}", "\ufeff{}", '{"a":1}}', Uint8Array.of(0x22, 0xff, 0x22)])
    expectFault("invalid_json", text);
  assert.deepEqual(parse('{"a":{"a":{"a":"\\ud83d\\ude00"}},"b":[{"a":1},{"a":1}]}'), {
    a: { a: { a: "😀" } },
    b: [{ a: 1 }, { a: 1 }],
  });
});

test("D13 every body within the size limit parses quickly, with deep nesting and long numbers too", () => {
  const longest = 65_000;
  // Processor time, because a busy machine stretches the other.
  const started = process.cpuUsage();
  for (const depth of [33, 7_000, 30_000])
    expectFault("invalid_request", `{"m":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  for (const middle of ["0".repeat(longest), "10".repeat(longest / 2)])
    expectFault("invalid_request", `{"m":0.1${middle}1}`);
  expectFault("invalid_json", `{"m":"${"\\".repeat(longest)}`);
  assert.ok(process.cpuUsage(started).user < 500_000, "a quadratic step would take seconds");
});
