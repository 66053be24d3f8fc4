import assert from "node:assert/strict";
import { test } from "node:test";
import vectors from "@tributary/inbox/vectors.json" with { type: "json" };
import { termsToWire } from "@tributary/inbox/wire";
import type { Terms } from "@tributary/inbox/terms";
import { readRecords, RecordRefused } from "@tributary/recover/records";

const [first, second] = vectors.inboxes.map(({ terms, inboxAddress }) => ({
  intentId: `pi_of_${inboxAddress}`,
  inboxAddress,
  inboxTerms: termsToWire({ ...(terms as unknown as Terms), settleChainId: BigInt(terms.settleChainId) }),
}));
assert(first && second);

function addressesOf(value: unknown): string[] {
  return readRecords(typeof value === "string" ? value : JSON.stringify(value)).map(({ address }) => address);
}

function refusal(value: unknown): string {
  try {
    addressesOf(value);
  } catch (error) {
    assert(error instanceof RecordRefused, String(error));
    return error.message;
  }
  return assert.fail("it was accepted");
}

const one = [first.inboxAddress.toLowerCase()];
const both = [...one, second.inboxAddress.toLowerCase()];

test("an intent, its terms alone, a list, the API's list and a line each are all read", () => {
  assert.deepEqual(addressesOf(first), one);
  assert.deepEqual(addressesOf(first.inboxTerms), one);
  assert.deepEqual(addressesOf([first, second]), both);
  assert.deepEqual(addressesOf({ object: "list", data: [first, second], has_more: false }), both);
  assert.deepEqual(addressesOf(`\ufeff${JSON.stringify(first)}\n\n${JSON.stringify(second)}\n`), both);
});

test("two answers about one intent are one inbox", () => {
  assert.deepEqual(addressesOf([first, { ...first, status: "settled" }]), one);
});

test("an address that the terms do not make is refused, whoever claims it", () => {
  assert.match(refusal({ ...first, inboxAddress: second.inboxAddress }), /its terms make the inbox 0x/);
});

test("terms of other contracts are refused, naming the hub that made them", () => {
  const hub = "0x1111111111111111111111111111111111111111";
  assert.match(refusal({ ...first, inboxTerms: { ...first.inboxTerms, hub } }), new RegExp(`made by the hub "${hub}"`));
});

test("what is no intent is refused in words that help", () => {
  assert.match(refusal("not json"), /It is not JSON/);
  assert.match(refusal(`${JSON.stringify(first)}\n{`), /Line 2 is not JSON/);
  assert.match(refusal([first, 5]), /Entry 2: an intent or its inboxTerms must be a JSON object/);
  assert.match(refusal({ intentId: "pi_x" }), /no inboxTerms/);
  assert.match(refusal({ ...first.inboxTerms, feeBps: "50" }), /feeBps must be a whole number/);
  assert.match(refusal([]), /no intent/);
});
