import assert from "node:assert/strict";
import { test } from "node:test";
import vectors from "@tributary/inbox/vectors.json" with { type: "json" };
import { termsToWire } from "@tributary/inbox/wire";
import type { Terms } from "@tributary/inbox/terms";
import { parseInboxes, InboxInputError } from "@tributary/recover/parseInboxes";

const [first, second] = vectors.inboxes.map(({ terms, inboxAddress }) => ({
  intentId: `pi_of_${inboxAddress}`,
  inboxAddress,
  inboxTerms: termsToWire({ ...(terms as unknown as Terms), settleChainId: BigInt(terms.settleChainId) }),
}));
assert(first && second);

function parseAddresses(value: unknown): string[] {
  return parseInboxes(typeof value === "string" ? value : JSON.stringify(value)).map(({ address }) => address);
}

function expectError(value: unknown): string {
  try {
    parseAddresses(value);
  } catch (error) {
    assert(error instanceof InboxInputError, String(error));
    return error.message;
  }
  return assert.fail("it was accepted");
}

const one = [first.inboxAddress.toLowerCase()];
const both = [...one, second.inboxAddress.toLowerCase()];

test("an intent, its terms alone, a list, the API's list and one entry per line are all accepted", () => {
  assert.deepEqual(parseAddresses(first), one);
  assert.deepEqual(parseAddresses(first.inboxTerms), one);
  assert.deepEqual(parseAddresses([first, second]), both);
  assert.deepEqual(parseAddresses({ object: "list", data: [first, second], has_more: false }), both);
  assert.deepEqual(parseAddresses(`\ufeff${JSON.stringify(first)}\n\n${JSON.stringify(second)}\n`), both);
});

test("two copies of one intent are one inbox", () => {
  assert.deepEqual(parseAddresses([first, { ...first, status: "settled" }]), one);
});

test("an address that differs from the one of its terms is refused", () => {
  assert.match(expectError({ ...first, inboxAddress: second.inboxAddress }), /its terms determine the inbox 0x/);
});

test("terms of other contracts are refused, naming the hub that made them", () => {
  const hub = "0x1111111111111111111111111111111111111111";
  assert.match(
    expectError({ ...first, inboxTerms: { ...first.inboxTerms, hub } }),
    new RegExp(`made by the hub "${hub}"`),
  );
});

test("invalid input is refused with a helpful message", () => {
  assert.match(expectError("not json"), /It is not JSON/);
  assert.match(expectError(`${JSON.stringify(first)}\n{`), /Line 2 is not JSON/);
  assert.match(expectError([first, 5]), /Entry 2: an intent or its inboxTerms must be a JSON object/);
  assert.match(expectError({ intentId: "pi_x" }), /no inboxTerms/);
  assert.match(expectError({ ...first.inboxTerms, feeBps: "50" }), /feeBps must be a whole number/);
  assert.match(expectError([]), /no intent/);
});
