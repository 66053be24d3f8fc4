import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { computeInboxAddress } from "@tributary/inbox/address";
import { cctpV2MinAmount, decodeCctpV2Config, encodeCctpV2Config, type CctpV2Config } from "@tributary/inbox/cctpV2";
import { cctpV2Chains, type CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRoutesRoot, type Route } from "@tributary/inbox/routes";
import { zeroBytes32, type Hex, type Terms } from "@tributary/inbox/terms";
import { verifyInbox } from "@tributary/inbox/verify";
import { verifyRoutes, type ExpectedBridges, type RoutesReason } from "@tributary/inbox/verifyRoutes";
import { routesToWire, termsToWire, type InboxRoute, type InboxTerms } from "@tributary/inbox/wire";
import { anyRoute } from "./arbitraries.ts";

const base = chainOf(8_453n);
const arbitrum = chainOf(42_161n);
const stranger: Hex = `0x${"66".repeat(20)}`;
const tokenAccount: Hex = `0x${"5a".repeat(32)}`;

function chainOf(chainId: bigint): CctpV2Chain {
  return cctpV2Chains.find((chain) => chain.chainId === chainId) ?? assert.fail(`no chain ${chainId}`);
}

function verify(routes: readonly Route[], bridges: ExpectedBridges = {}, settle = base) {
  const { chainId: settleChainId, usdc: settleToken } = settle;
  const expected = { ...bridges, routesRoot: computeRoutesRoot(routes), settleChainId, settleToken };
  return verifyRoutes(routesToWire(routes), expected);
}

const honest = buildCctpV2Routes({ settle: base, origins: cctpV2Chains.filter((chain) => chain !== base) });
const index = honest.findIndex(({ chainId }) => chainId === arbitrum.chainId);
const route = honest[index] ?? assert.fail("no route from Arbitrum");

/** The honest list with one route replaced. Its root is computed anew, as a thief would. */
const withRoute = (changed: Partial<Route>) => honest.with(index, { ...route, ...changed });
const withConfig = (changed: Partial<CctpV2Config>) =>
  withRoute({ config: encodeCctpV2Config({ ...decodeCctpV2Config(route.config), ...changed }) });

test("the routes that this release builds pass for every known destination", () => {
  for (const settle of cctpV2Chains) {
    const origins = cctpV2Chains.filter((chain) => chain !== settle);
    assert.deepEqual(verify(buildCctpV2Routes({ settle, origins }), {}, settle), { ok: true });
  }
  assert.deepEqual(verify([]), { ok: true });
});

const WRONG_LEAVES: readonly (readonly [what: string, routes: readonly Route[], reason: RoutesReason])[] = [
  ["another adapter", withRoute({ adapter: stranger }), "wrong_adapter"],
  ["a chain that nobody knows", withRoute({ chainId: 424_242n }), "wrong_chain"],
  ["the settle chain itself", withRoute({ chainId: base.chainId, token: base.usdc }), "wrong_chain"],
  ["another token", withRoute({ token: stranger }), "wrong_token"],
  ["the USDC of another chain", withRoute({ token: base.usdc }), "wrong_token"],
  ["the native coin", withRoute({ token: `0x${"00".repeat(20)}` }), "wrong_token"],
  ["settings with more bytes", withRoute({ config: `${route.config}00` }), "malformed_config"],
  ["no settings", withRoute({ config: "0x" }), "malformed_config"],
  ["another messenger", withConfig({ messenger: stranger }), "wrong_messenger"],
  ["the messenger of the test networks", withConfig({ messenger: chainOf(84_532n).messenger }), "wrong_messenger"],
  ["the domain of another chain", withConfig({ domain: arbitrum.domain }), "wrong_domain"],
  ["Solana's domain for a payout on EVM", withConfig({ domain: 5 }), "wrong_domain"],
  ["a threshold between the speeds", withConfig({ finalityThresholdMin: 1_500 }), "wrong_finality"],
  ["no threshold", withConfig({ finalityThresholdMin: 0 }), "wrong_finality"],
  ["a threshold that nothing reaches", withConfig({ finalityThresholdMin: 2_001 }), "wrong_finality"],
  ["a cap above one percent", withConfig({ feePpmMax: 10_001 }), "fee_too_high"],
  ["a minimum that no deposit reaches", withRoute({ minAmount: 1n << 200n }), "wrong_minimum"],
  ["a recipient", withConfig({ recipient: tokenAccount }), "wrong_recipient"],
  ["the inbox's own address as recipient", withConfig({ recipient: `0x${"1".padStart(64, "0")}` }), "wrong_recipient"],
];

for (const [what, routes, reason] of WRONG_LEAVES) {
  test(`a leaf with ${what} is refused: ${reason}`, () => {
    assert.deepEqual(verify(routes), { ok: false, reason, index });
  });
}

test("a list that is not the root's is refused: another order, a leaf more or less, or none", () => {
  const expected = { routesRoot: computeRoutesRoot(honest), settleChainId: 8_453, settleToken: base.usdc };
  const wire = routesToWire(honest);
  const refused = { ok: false, reason: "wrong_root" };
  assert.deepEqual(verifyRoutes(wire, expected), { ok: true });
  assert.deepEqual(verifyRoutes(wire.slice(1), expected), refused);
  assert.deepEqual(verifyRoutes([...wire, ...wire.slice(0, 1)], expected), refused);
  assert.deepEqual(verifyRoutes([...wire.slice(1), ...wire.slice(0, 1)], expected), refused);
  assert.deepEqual(verifyRoutes([], expected), refused);
  assert.deepEqual(verifyRoutes(undefined, expected), refused);
  assert.deepEqual(verifyRoutes(wire, { ...expected, routesRoot: zeroBytes32 }), refused);
});

test("a thief's leaf anywhere in the list is found", () => {
  fc.assert(
    fc.property(anyRoute, fc.nat(honest.length), (foreign, place) => {
      const verified = verify(honest.toSpliced(place, 0, foreign));
      assert.ok(!verified.ok);
      assert.equal(verified.index, place);
    }),
  );
});

test("every malformed field of a published route is refused", () => {
  const [first, ...others] = routesToWire(honest);
  assert.ok(first);
  const expected = { routesRoot: computeRoutesRoot(honest), settleChainId: 8_453, settleToken: base.usdc };
  const malformed: Record<keyof InboxRoute, readonly unknown[]> = {
    chainId: [undefined, 1, "", "01", "-1", "0x1", "18446744073709551616"],
    token: [undefined, null, "0x", `${first.token}0`, first.token.slice(2)],
    adapter: [undefined, `${first.adapter}0`],
    minAmount: [undefined, 2, "2.0", "-2", (1n << 256n).toString(), "9".repeat(100)],
    config: [undefined, null, "", "0x0", first.config.slice(2), `${first.config}zz`],
  };
  for (const [field, values] of Object.entries(malformed)) {
    for (const value of values) {
      const spoiled: InboxRoute[] = [{ ...first, [field]: value }, ...others];
      assert.deepEqual(verifyRoutes(spoiled, expected), { ok: false, reason: "malformed_routes" }, field);
    }
  }
  for (const list of [{}, "", [null], [5], [...others, undefined]])
    assert.deepEqual(verifyRoutes(list as InboxRoute[], expected), { ok: false, reason: "malformed_routes" });
});

test("the payout token must be the USDC that the bridge mints", () => {
  const settle = { ...base, usdc: stranger };
  assert.deepEqual(verify(honest, {}, settle), { ok: false, reason: "wrong_token", index: 0 });
});

test("a caller's chains count, and replace the built-in ones", () => {
  const local = { chainId: 31_337n, domain: 77, messenger: stranger, transmitter: stranger, usdc: tokenOf("aa") };
  const second = { chainId: 31_338n, domain: 78, messenger: tokenOf("bb"), transmitter: stranger, usdc: tokenOf("cc") };
  const routes = buildCctpV2Routes({ settle: local, origins: [second, base] });
  assert.deepEqual(verify(routes, { cctpV2Chains: [local, second] }, local), { ok: true });
  const onlySettle = verify(routes, { cctpV2Chains: [local] }, local);
  assert.ok(!onlySettle.ok && onlySettle.reason === "wrong_chain");
  const onlyOrigin = verify(routes, { cctpV2Chains: [second] }, local);
  assert.ok(!onlyOrigin.ok && onlyOrigin.reason === "wrong_domain");
  const replaced = verify(routes, { cctpV2Chains: [local, second, { ...base, messenger: stranger }] }, local);
  assert.ok(!replaced.ok && replaced.reason === "wrong_messenger");
});

function tokenOf(byte: string): Hex {
  return `0x${byte.repeat(20)}`;
}

test("the accepted cap is the caller's, and a limit that is no number accepts nothing", () => {
  assert.deepEqual(verify(honest, { feePpmMax: 3_000 }), { ok: true });
  const refusal = (feePpmMax: number) => {
    const verified = verify(honest, { feePpmMax });
    return verified.ok ? "ok" : verified.reason;
  };
  assert.deepEqual([refusal(2_999), refusal(Number.NaN)], ["fee_too_high", "fee_too_high"]);
  const raised = withRoute({ minAmount: cctpV2MinAmount(20_000), config: configWithCap(20_000) });
  assert.deepEqual(verify(raised, { feePpmMax: 20_000 }), { ok: true });
});

function configWithCap(feePpmMax: number): Hex {
  return encodeCctpV2Config({ ...decodeCctpV2Config(route.config), feePpmMax });
}

test("for a payout on Solana every leaf pays the token account of the intent's own inbox there", () => {
  const solana = { ...base, chainId: 0n, domain: 5 };
  const build = (recipient: Hex | undefined, domain = 5) =>
    buildCctpV2Routes({ settle: { chainId: 0n, domain, ...(recipient && { recipient }) }, origins: [base, arbitrum] });
  assert.deepEqual(verify(build(tokenAccount), { recipient: tokenAccount }, solana), { ok: true });
  const refused = (routes: Route[], bridges: ExpectedBridges = { recipient: tokenAccount }) => {
    const verified = verify(routes, bridges, solana);
    return verified.ok ? "ok" : verified.reason;
  };
  assert.equal(refused(build(`0x${"5b".repeat(32)}`)), "wrong_recipient");
  assert.equal(refused(build(undefined)), "wrong_recipient");
  assert.equal(refused(build(tokenAccount), {}), "wrong_recipient");
  assert.equal(refused(build(undefined), {}), "wrong_recipient");
  assert.equal(refused(build(tokenAccount, 6)), "wrong_domain");
});

const terms: Terms = {
  salt: zeroBytes32,
  settleChainId: base.chainId,
  settleToken: base.usdc,
  payout: tokenOf("11"),
  feeRecipient: tokenOf("22"),
  feeBps: 50,
  recovery: tokenOf("11"),
  recoverAfter: 1_811_808_000,
  routesRoot: computeRoutesRoot(honest),
};

function issue(routes: readonly Route[]) {
  const issued = { ...terms, routesRoot: computeRoutesRoot(routes) };
  const expected = { payoutWallet: terms.payout, token: base.usdc, chainId: 8_453, feeBpsMax: 50 };
  return {
    wire: { ...termsToWire(issued), routes: routesToWire(routes) } satisfies InboxTerms,
    expected: { ...expected, inboxAddress: computeInboxAddress(issued) },
  };
}

test("an inbox with published routes passes without an agreed root, and with every wrong leaf it does not", () => {
  const { wire, expected } = issue(honest);
  assert.deepEqual(verifyInbox(wire, expected), { ok: true });
  assert.deepEqual(verifyInbox({ ...wire, routes: undefined }, expected), {
    ok: false,
    reason: "wrong_routes",
  });
  for (const [what, routes] of WRONG_LEAVES) {
    const stolen = issue(routes);
    assert.deepEqual(verifyInbox(stolen.wire, stolen.expected), { ok: false, reason: "wrong_routes" }, what);
  }
});

test("an agreed root decides alone, and the caller's chains reach the check of an inbox", () => {
  const { wire, expected } = issue(honest);
  const { routes: _, ...rootOnly } = wire;
  assert.deepEqual(verifyInbox(rootOnly, { ...expected, routesRoot: terms.routesRoot }), { ok: true });
  assert.deepEqual(verifyInbox(wire, { ...expected, routesRoot: zeroBytes32 }), { ok: false, reason: "wrong_routes" });
  const bridges = { cctpV2Chains: [{ ...arbitrum, messenger: stranger }] };
  assert.deepEqual(verifyInbox(wire, { ...expected, bridges }), { ok: false, reason: "wrong_routes" });
});
