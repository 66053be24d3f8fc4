import assert from "node:assert/strict";
import { test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { currentHub, firstHub, type Hub } from "@tributary/inbox/hubs";
import vectors from "@tributary/inbox/vectors.json" with { type: "json" };
import { cctpV2Chains } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { routesToWire, termsToWire } from "@tributary/inbox/wire";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { batchSettlements } from "@tributary/recover/contractCalls";
import type { Holding } from "@tributary/recover/inspectChain";
import { defaultReceiver, NATIVE_TOKEN } from "@tributary/recover/planRecovery";
import { parseInboxes, InboxInputError } from "@tributary/recover/parseInboxes";

type JsonTerms = (typeof vectors.inboxes)[number]["terms"];
const toTerms = (terms: JsonTerms): Terms => ({
  ...(terms as unknown as Terms),
  settleChainId: BigInt(terms.settleChainId),
});
const toIntents = (inboxes: typeof vectors.inboxes, hub: Hub) =>
  inboxes.map(({ terms, inboxAddress }) => {
    const read = toTerms(terms);
    return { intentId: `pi_of_${inboxAddress}`, inboxAddress, inboxTerms: termsToWire(read, hub) };
  });
const [first, second] = toIntents(vectors.inboxes, firstHub);
const laterInboxes = vectors.laterHubs[0]?.inboxes ?? [];
const [later] = toIntents(laterInboxes, currentHub);
const [laterTerms] = laterInboxes.map(({ terms }) => toTerms(terms));
assert(first && second && later && laterTerms);

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

test("inboxes of the first hub belong to it, and those of the current one to that", () => {
  const hubOf = (value: unknown) => parseInboxes(JSON.stringify(value)).map(({ hub }) => hub);
  assert.deepEqual(hubOf([first, later]), [firstHub, currentHub]);
  assert.deepEqual(parseAddresses(later), [later.inboxAddress.toLowerCase()]);
  assert.match(
    expectError({ ...later, inboxTerms: { ...later.inboxTerms, hub: first.inboxTerms.hub } }),
    /made by the hub/,
  );
});

test("routes are those of the root; an intent that shows only the root takes them from another with the same root", () => {
  const origins = cctpV2Chains.filter(({ chainId }) => chainId === 1n || chainId === 10n);
  const routes = buildCctpV2Routes({ settle: { chainId: 8_453n, domain: 6 }, origins });
  const bridged = (salt: string, shown: object) => {
    const terms: Terms = { ...laterTerms, salt: `0x${salt.repeat(32)}`, routesRoot: computeRoutesRoot(routes) };
    return { ...termsToWire(terms), ...shown };
  };
  const [whole, rootOnly] = [bridged("01", { routes: routesToWire(routes) }), bridged("02", {})];
  const routesOf = (value: unknown) => parseInboxes(JSON.stringify(value)).map((inbox) => inbox.routes?.length);
  assert.deepEqual(routesOf(whole), [4]);
  assert.deepEqual(routesOf(rootOnly), [undefined]);
  assert.deepEqual(routesOf([rootOnly, whole]), [4, 4]);
  assert.deepEqual(routesOf([whole, bridged("01", {})]), [4], "two copies are one inbox");
  assert.deepEqual(routesOf(first), [0]);
  assert.deepEqual(routesOf({ ...first.inboxTerms, routes: [] }), [0]);
  const hasOtherRoot = /inboxTerms.routes do not have the root 0x/;
  assert.match(expectError(bridged("01", { routes: routesToWire(routes.slice(1)) })), hasOtherRoot);
  assert.match(expectError({ ...first.inboxTerms, routes: routesToWire(routes) }), hasOtherRoot);
  assert.match(expectError(bridged("01", { routes: [{ chainId: 1 }] })), /routes\[0\]\.chainId must be/);
  assert.match(expectError(bridged("01", { routes: "all" })), /routes must be a list/);
});

test("a batch settles inboxes of one hub, and the native coin alone", () => {
  const holding = (hub: Hub, salt: number, token: Hex = `0x${"0a".repeat(20)}`): Holding => {
    const terms: Terms = { ...laterTerms, salt: `0x${String(salt).padStart(64, "0")}` };
    const inbox = { intentId: undefined, address: computeInboxAddress(terms, hub), terms, hub, routes: [] };
    return { inbox, token, symbol: "", decimals: 0, units: 1n };
  };
  const holdings = [
    ...Array.from({ length: 101 }, (_, index) => holding(currentHub, index)),
    holding(firstHub, 1),
    holding(currentHub, 200, NATIVE_TOKEN),
    holding(firstHub, 2),
    holding(currentHub, 201, NATIVE_TOKEN),
  ];
  const batches = batchSettlements(holdings);
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [100, 1, 2, 1, 1],
  );
  for (const batch of batches) assert.equal(new Set(batch.map(({ inbox }) => inbox.hub)).size, 1);
});

test("a rescue goes to the payout wallet on its chain; elsewhere, and in the payout token, to the sender", () => {
  const terms = { ...laterTerms, settleChainId: 8_453n };
  const sender: Hex = `0x${"5e".repeat(20)}`;
  const token = NATIVE_TOKEN;
  assert.equal(defaultReceiver(terms, { chainId: 8_453n, sender, token }), terms.payout);
  assert.equal(defaultReceiver(terms, { chainId: 10n, sender, token }), sender);
  assert.equal(defaultReceiver({ ...terms, payout: NATIVE_TOKEN }, { chainId: 8_453n, sender, token }), sender);
  // The payout token is rescued where the payout wallet cannot receive it.
  assert.equal(defaultReceiver(terms, { chainId: 8_453n, sender, token: terms.settleToken }), sender);
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
