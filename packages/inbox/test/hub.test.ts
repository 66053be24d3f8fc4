import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { decodeErrorResult, encodeFunctionData, keccak256, size } from "viem";
import type { Hex } from "viem";
import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress, hubCodeHash, hubSalt, implementationAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { hubCreationCode, hubCreationCodeHash } from "@tributary/inbox/hubCode";
import { feeBpsMax } from "@tributary/inbox/hubs";
import { cctpV2Chains } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRouteProof, computeRoutesRoot } from "@tributary/inbox/routes";
import type { Route } from "@tributary/inbox/routes";
import { DEV_ACCOUNTS } from "../../../src/dev/devAccounts.ts";
import { startTestChain } from "../../../test/support/chain.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { zeroAddress, type Terms } from "@tributary/inbox/terms";
import { isDeepRun } from "../../../test/support/runNumber.ts";
import { anyRoute, anyTerms } from "./arbitraries.ts";

const anAddress: Hex = `0x${"77".repeat(20)}`;
const SAMPLE_COUNT = 1_000;
let chain: TestChain;

before(async () => {
  chain = await startTestChain({ hub: { creationCode: hubCreationCode, salt: hubSalt } });
});

after(async () => {
  await chain.stop();
});

test("the hub deploys at the published address, with the published code, and its inboxes delegate to itself", async () => {
  assert.equal(chain.hub, hubAddress);
  assert.equal(keccak256(hubCreationCode), hubCreationCodeHash);
  assert.equal(implementationAddress, hubAddress);
  const code = await chain.client.getCode({ address: hubAddress });
  assert.equal(code && keccak256(code), hubCodeHash);
  const feeMax = await chain.client.readContract({ address: hubAddress, abi: hubAbi, functionName: "FEE_BPS_MAX" });
  assert.equal(feeMax, BigInt(feeBpsMax));
});

test("for a thousand random terms the package and the hub agree on the address", async () => {
  const samples = fc.sample(anyTerms, { numRuns: SAMPLE_COUNT, seed: 20_261_121 });
  const calls = samples.map((terms, id) => ({
    jsonrpc: "2.0",
    id,
    method: "eth_call",
    params: [
      { to: hubAddress, data: encodeFunctionData({ abi: hubAbi, functionName: "inboxOf", args: [terms] }) },
      "latest",
    ],
  }));
  const response = await fetch(chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(calls),
  });
  const responses = (await response.json()) as { id: number; result: string }[];
  const byId = new Map(responses.map(({ id, result }) => [id, `0x${result.slice(-40)}`]));
  assert.equal(byId.size, SAMPLE_COUNT);
  for (const [id, terms] of samples.entries()) assert.equal(computeInboxAddress(terms), byId.get(id));
});

test("the hub accepts every route with the package's proof, and no other route", async () => {
  const [terms] = fc.sample(anyTerms, { numRuns: 1, seed: 20_261_121 });
  assert.ok(terms !== undefined);
  const chainId = BigInt(chain.chainId);
  const sampled = fc.sample(anyRoute, { numRuns: 14, seed: 20_261_121 }).map((route) => ({ ...route, chainId }));
  const [foreign, ...routes] = sampled;
  assert.ok(foreign !== undefined);
  const committed = { ...terms, feeBps: 0, routesRoot: computeRoutesRoot(routes) };
  for (const [index, route] of routes.entries()) {
    const proof = computeRouteProof(routes, index);
    // A random adapter address has no code, and the hub checks it only after it has accepted the route.
    assert.equal(await readBridgeError([committed, route, proof, "0x"]), "NoAdapter");
    assert.equal(await readBridgeError([committed, foreign, proof, "0x"]), "NoSuchRoute");
  }
});

test("the hub accepts every route that the package builds, with its proof, and none of them changed", async () => {
  const [terms] = fc.sample(anyTerms, { numRuns: 1, seed: 20_261_121 });
  assert.ok(terms !== undefined);
  const contracts = { messenger: anAddress, transmitter: anAddress };
  const here = { chainId: BigInt(chain.chainId), domain: 78, usdc: chain.usdc.address, ...contracts };
  const anyOrigins = fc.tuple(fc.shuffledSubarray([...cctpV2Chains]), fc.nat(cctpV2Chains.length));
  const property = fc.asyncProperty(anyOrigins, fc.nat(2), async ([others, at], changed) => {
    const settle = { chainId: 31_337n, domain: 77 };
    const routes = buildCctpV2Routes({ settle, origins: others.toSpliced(at, 0, here) });
    const committed = { ...terms, settleChainId: 31_337n, feeBps: 0, routesRoot: computeRoutesRoot(routes) };
    for (const [index, route] of routes.entries()) {
      const proof = computeRouteProof(routes, index);
      const expected = route.chainId === here.chainId ? "NoAdapter" : "WrongChain";
      assert.equal(await readBridgeError([committed, route, proof, "0x"]), expected);
      if (route.chainId !== here.chainId) continue;
      const { minAmount, config } = route;
      const changes = [{ minAmount: minAmount + 1n }, { config: `${config}00` as const }, { token: zeroAddress }];
      const forged: Route = { ...route, ...changes[changed] };
      assert.equal(await readBridgeError([committed, forged, proof, "0x"]), "NoSuchRoute");
    }
  });
  await fc.assert(property, { numRuns: isDeepRun ? 20 : 3, seed: 20_261_121 });
});

/** Returns the name of the error with which the hub refuses to bridge. */
async function readBridgeError(args: readonly [Terms, Route, Hex[], Hex]) {
  const data = encodeFunctionData({ abi: hubAbi, functionName: "bridge", args });
  const params = [{ to: hubAddress, data }, "latest"];
  const response = await fetch(chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params }),
  });
  const reply = (await response.json()) as { error: { data: Hex } };
  return decodeErrorResult({ abi: hubAbi, data: reply.error.data }).errorName;
}

test("the hub pays out the balance of a computed address, less the fee", async () => {
  const [base] = fc.sample(anyTerms, 1);
  assert.ok(base !== undefined);
  const terms = { ...base, settleChainId: BigInt(chain.chainId), settleToken: chain.usdc.address, feeBps: 50 };
  await chain.mint(chain.usdc.address, computeInboxAddress(terms), 100_000_000n);
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [terms] });
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to: hubAddress, data }]);
  assert.equal(receipt?.status, "success");
  assert.equal(await chain.balanceOf(chain.usdc.address, terms.payout), 99_500_000n);
  assert.equal(await chain.balanceOf(chain.usdc.address, terms.feeRecipient), 500_000n);
  assert.equal(await chain.balanceOf(chain.usdc.address, computeInboxAddress(terms)), 0n);
  const code = await chain.client.getCode({ address: computeInboxAddress(terms) });
  assert.equal(code === undefined ? 0 : size(code), 42);
});
