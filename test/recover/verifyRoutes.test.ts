import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { cctpV2Chains, type CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { routesToWire, termsToWire } from "@tributary/inbox/wire";
import { runCli, temporaryFolder } from "../support/cli.ts";

// `tributary verify` on intents with cross-chain routes. It needs no chain.

const WALLET: Hex = `0x${"11".repeat(20)}`;
const folder = temporaryFolder();
after(() => folder.remove());

const base = cctpV2Chains.find(({ chainId }) => chainId === 8_453n) ?? assert.fail("no Base");
const arbitrum = cctpV2Chains.find(({ chainId }) => chainId === 42_161n) ?? assert.fail("no Arbitrum");
const own: CctpV2Chain = {
  chainId: 424_242n,
  domain: 77,
  messenger: `0x${"aa".repeat(20)}`,
  transmitter: `0x${"bb".repeat(20)}`,
  usdc: `0x${"cc".repeat(20)}`,
};

function writeIntent(name: string, origins: readonly CctpV2Chain[], change: (wire: object) => object = (wire) => wire) {
  const routes = buildCctpV2Routes({ settle: base, origins });
  const terms: Terms = {
    salt: `0x${"5a".repeat(32)}`,
    settleChainId: base.chainId,
    settleToken: base.usdc,
    payout: WALLET,
    feeRecipient: `0x${"22".repeat(20)}`,
    feeBps: 50,
    recovery: WALLET,
    recoverAfter: 1_811_808_000,
    routesRoot: computeRoutesRoot(routes),
  };
  const inboxTerms = change({ ...termsToWire(terms), routes: routesToWire(routes) });
  return writeJson(name, { intentId: "pi_x", inboxAddress: computeInboxAddress(terms), inboxTerms });
}

function writeJson(name: string, value: unknown): string {
  const path = join(folder.path, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
}

const verify = (...args: string[]) => runCli(["verify", ...args, "--payout", WALLET]);
const withoutRoutes = (wire: object) => ({ ...wire, routes: undefined });

test("routes that only bridge USDC to the same inbox pass, and are named", async () => {
  const { code, out, err } = await verify(writeIntent("known.json", [arbitrum]));
  assert.equal(code, 0, out + err);
  assert.match(out, /bridges to itself from chains 42161/);
});

test("a file that shows only the root is refused, unless the root is agreed or another intent has the routes", async () => {
  const file = writeIntent("rootOnly.json", [arbitrum], withoutRoutes);
  const refused = await verify(file);
  assert.equal(refused.code, 1);
  assert.match(refused.out, /or does not list them;.* \(wrong_routes\)/);
  const root = computeRoutesRoot(buildCctpV2Routes({ settle: base, origins: [arbitrum] }));
  assert.equal((await verify(file, "--routes-root", root)).code, 0);
  assert.equal((await verify(file, "--routes-root", `0x${"00".repeat(32)}`)).code, 1);
});

test("a chain that this release does not know needs --bridges, whose mistakes are named", async () => {
  const file = writeIntent("own.json", [arbitrum, own]);
  assert.match((await verify(file)).out, /\(wrong_routes\)/);
  const entry = { ...own, chainId: Number(own.chainId) };
  const bridges = writeJson("bridges.json", [entry]);
  const { code, out, err } = await verify(file, "--bridges", bridges);
  assert.equal(code, 0, out + err);
  for (const [value, message] of [
    [entry, /it must be a list of/],
    [[{ ...entry, usdc: "0x1" }], /entry 1: usdc must be an address/],
    [[entry, { ...entry, domain: "77" }], /entry 2: domain must be a whole number/],
    [[{ ...entry, minter: 1 }], /entry 1: minter is unknown/],
    [[null], /entry 1: chainId must be a whole number/],
  ] as const) {
    const wrong = await verify(file, "--bridges", writeJson("wrong.json", value));
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, message);
  }
});
