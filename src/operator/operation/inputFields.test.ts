import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError, UsageError } from "../errors.ts";
import { clearableText, flag, optionalNumber, optionalNumbers, readInput, requiredText } from "./inputFields.ts";

const SHAPE = {
  accountId: requiredText,
  accent: clearableText,
  withoutScopes: flag,
  feeBps: optionalNumber({ min: 0, max: 1_000 }),
  after: optionalNumbers,
} as const;

test("options arrive as they were typed", () => {
  assert.deepEqual(readInput(SHAPE, { accountId: "acct_1", feeBps: "30", withoutScopes: true, after: { acct_1: 7 } }), {
    accountId: "acct_1",
    accent: undefined,
    withoutScopes: true,
    feeBps: 30,
    after: new Map([["acct_1", 7]]),
  });
});

test("null removes a value, and a missing one changes nothing", () => {
  assert.equal(readInput(SHAPE, { accountId: "acct_1", accent: null }).accent, null);
  assert.equal(readInput(SHAPE, { accountId: "acct_1" }).accent, undefined);
});

test("an invalid number names its option", () => {
  for (const feeBps of ["1001", "-1", "1.5", "", 2.5, {}])
    assert.throws(() => readInput(SHAPE, { accountId: "acct_1", feeBps }), /^UsageError: --fee-bps must be/);
});

test("a field of another version is refused, because it would be ignored", () => {
  assert.throws(() => readInput(SHAPE, { accountId: "acct_1", feeLimit: "3" }), /--fee-limit/);
  assert.doesNotThrow(() => readInput(SHAPE, { accountId: "acct_1", feeLimit: undefined }));
});

test("a missing or wrong text names its field", () => {
  for (const given of [undefined, null, {}, { accountId: "" }, { accountId: 7 }])
    assert.throws(() => readInput(SHAPE, given), CommandError);
  assert.throws(() => readInput(SHAPE, { accountId: "acct_1", after: { acct_1: "x" } }), UsageError);
});
