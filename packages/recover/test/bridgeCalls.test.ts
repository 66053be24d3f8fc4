import assert from "node:assert/strict";
import { test } from "node:test";
import { cctpV2Chains } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { currentHub } from "@tributary/inbox/hubs";
import { computeRouteProof, computeRoutesRoot } from "@tributary/inbox/routes";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { encodeFunctionData, parseAbi } from "viem";
import { buildBridgeCall, buildNonceCall, buildReceiptCall, buildReceiveCall } from "../src/bridge/bridgeCalls.ts";
import { planBridge } from "../src/bridge/planBridge.ts";
import { findRevertReason } from "../src/bridge/revertReason.ts";

// The package's own encoding against an independent one.

const chainOf = (id: bigint) => cctpV2Chains.find(({ chainId }) => chainId === id) ?? assert.fail("an unknown chain");
const [base, arbitrum, ethereum] = [chainOf(8_453n), chainOf(42_161n), chainOf(1n)];
const routes = buildCctpV2Routes({ settle: base, origins: [arbitrum, ethereum] });
const terms: Terms = {
  salt: `0x${"5a".repeat(32)}`,
  settleChainId: base.chainId,
  settleToken: base.usdc,
  payout: `0x${"11".repeat(20)}`,
  feeRecipient: `0x${"22".repeat(20)}`,
  feeBps: 50,
  recovery: `0x${"33".repeat(20)}`,
  recoverAfter: 1_811_808_000,
  routesRoot: computeRoutesRoot(routes),
};
const inbox = { terms, hub: currentHub, routes };
const attested = { message: `0x${"ab".repeat(376)}`, attestation: `0x${"cd".repeat(130)}` } as const;
const transmitterAbi = parseAbi([
  "function receiveMessage(bytes message, bytes attestation)",
  "function usedNonces(bytes32 nonce)",
]);

test("a call of the bridge has the hub's encoding, with the proof of its route", () => {
  for (const origin of [arbitrum, ethereum]) {
    const plan = planBridge(inbox, { chainId: origin.chainId, token: origin.usdc });
    if (plan.kind !== "bridge") return assert.fail(plan.kind);
    assert.deepEqual(plan.routes.map(({ speed, feePpmMax }) => `${speed} ${feePpmMax}`).toSorted(), [
      "fast 3000",
      "standard 1000",
    ]);
    for (const proven of plan.routes) {
      const proof = computeRouteProof(routes, routes.indexOf(proven.route));
      const args = [terms, proven.route, proof, "0x"] as const;
      const data = encodeFunctionData({ abi: hubAbi, functionName: "bridge", args });
      assert.deepEqual(buildBridgeCall(inbox, proven), { to: currentHub.address, data });
    }
  }
});

test("calls that receive have the encoding of hub and transmitter", () => {
  const { message, attestation } = attested;
  const { transmitter } = base;
  assert.deepEqual(buildReceiveCall(inbox, transmitter, attested), {
    to: currentHub.address,
    data: encodeFunctionData({
      abi: hubAbi,
      functionName: "receiveAndSettle",
      args: [transmitter, message, attestation, terms],
    }),
  });
  const abi = transmitterAbi;
  assert.deepEqual(buildReceiptCall(transmitter, attested), {
    to: transmitter,
    data: encodeFunctionData({ abi, functionName: "receiveMessage", args: [message, attestation] }),
  });
  const nonce: Hex = `0x${"77".repeat(32)}`;
  assert.deepEqual(buildNonceCall(transmitter, nonce), {
    to: transmitter,
    data: encodeFunctionData({ abi, functionName: "usedNonces", args: [nonce] }),
  });
});

test("only the routes of the token must be those of known contracts, and a route that leads elsewhere is refused", () => {
  const own = { ...arbitrum, chainId: 424_242n, messenger: `0x${"ee".repeat(20)}` } as const;
  const place = { chainId: own.chainId, token: own.usdc };
  const mixed = buildCctpV2Routes({ settle: base, origins: [arbitrum, own] });
  const ofMixed = { terms: { ...terms, routesRoot: computeRoutesRoot(mixed) }, routes: mixed };
  assert.equal(planBridge(ofMixed, { chainId: arbitrum.chainId, token: arbitrum.usdc }).kind, "bridge");
  assert.deepEqual(planBridge(ofMixed, place), { kind: "refused", reason: "wrong_chain" });
  assert.equal(planBridge(ofMixed, place, [own]).kind, "bridge");
  const other = { ...own, messenger: `0x${"ff".repeat(20)}` } as const;
  assert.deepEqual(planBridge(ofMixed, place, [other]), { kind: "refused", reason: "wrong_messenger" });
  assert.deepEqual(planBridge(inbox, { chainId: base.chainId, token: base.usdc }), { kind: "none" });
  assert.deepEqual(planBridge({ terms, routes: undefined }, place), { kind: "unlisted" });
});

test("the reason of a revert is found where nodes and wallets put it; other failures have none", () => {
  const data = encodeFunctionData({ abi: parseAbi(["function Error(string)"]), args: ["Nonce already used"] });
  for (const error of [
    { code: 3, message: "execution reverted", data },
    { code: -32_603, message: "Internal error", data: { code: 3, message: "execution reverted", data } },
    Object.assign(new Error("failed"), { cause: { data } }),
  ])
    assert.equal(findRevertReason(error), "Nonce already used");
  assert.equal(findRevertReason(new Error("execution reverted: expired")), "execution reverted: expired");
  const long = new Error(`Request body: ${"ab".repeat(500)}. Details: execution reverted: expired`);
  assert.equal(findRevertReason(long), "reverted: expired");
  assert.equal(findRevertReason(new Error("fetch failed")), undefined);
});
