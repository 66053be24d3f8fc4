import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { cctpV2Chains, findCctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { decodeCctpV2Config, encodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { checksumAddress } from "@tributary/inbox/checksum";
import { computeRoutesRoot, hashRoute } from "@tributary/inbox/routes";
import type { Hex } from "@tributary/inbox/terms";
import { anyAddress, anyBytes32 } from "./arbitraries.ts";

// Some, as Circle's pages show them. A test of the catalogue compares all with Circle's package.
const MAINNETS: readonly [chainId: bigint, domain: number, usdc: string][] = [
  [1n, 0, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"],
  [43_114n, 1, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"],
  [10n, 2, "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"],
  [42_161n, 3, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"],
  [8_453n, 6, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
  [137n, 7, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"],
  [130n, 10, "0x078D782b760474a361dDA0AF3839290b0EF57AD6"],
  [59_144n, 11, "0x176211869cA2b568f2A7D4EE941E073a821EE1ff"],
];
const TESTNETS: readonly [chainId: bigint, domain: number, usdc: string][] = [
  [11_155_111n, 0, "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"],
  [43_113n, 1, "0x5425890298aed601595a70AB815c96711a31Bc65"],
  [11_155_420n, 2, "0x5fd84259d66Cd46123540766Be93DFE6D43130D7"],
  [421_614n, 3, "0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d"],
  [84_532n, 6, "0x036CbD53842c5426634e7929541eC2318f3dCF7e"],
];

test("the table holds Circle's published domains, contracts and tokens", () => {
  const rowsOf = (networks: typeof MAINNETS, messenger: string, transmitter: string) =>
    networks.map(([chainId, domain, usdc]) => ({ chainId, domain, usdc, messenger, transmitter }));
  const listed = new Set([...MAINNETS, ...TESTNETS].map(([chainId]) => chainId));
  const chains = cctpV2Chains.filter(({ chainId }) => listed.has(chainId));
  const shown = chains.map(({ usdc, messenger, transmitter, ...chain }) => ({
    ...chain,
    usdc: checksumAddress(usdc),
    messenger: checksumAddress(messenger),
    transmitter: checksumAddress(transmitter),
  }));
  assert.deepEqual(shown, [
    ...rowsOf(MAINNETS, "0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d", "0x81D40F21F12A8F0E3252Bccb954D722d4c464B64"),
    ...rowsOf(TESTNETS, "0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA", "0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275"),
  ]);
  assert.equal(findCctpV2Chain(8_453)?.domain, 6);
  assert.equal(findCctpV2Chain(31_337n), undefined);
});

const anyUint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const anyConfig = fc.record(
  {
    messenger: anyAddress,
    domain: anyUint32,
    finalityThresholdMin: anyUint32,
    feePpmMax: anyUint32,
    recipient: anyBytes32.filter((bytes) => BigInt(bytes) !== 0n),
  },
  { requiredKeys: ["messenger", "domain", "finalityThresholdMin", "feePpmMax"], noNullPrototype: true },
);

test("a decoded config is the encoded one, and every other encoding of 5 words is refused", () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const encoded = encodeCctpV2Config(config);
      assert.deepEqual(decodeCctpV2Config(encoded), config);
      // Non-zero padding of the messenger and of each number.
      for (const word of [0, 1, 2, 3]) {
        const at = 2 + word * 64;
        const padded: Hex = `0x${encoded.slice(2, at)}1${encoded.slice(at + 1)}`;
        assert.throws(() => decodeCctpV2Config(padded), RangeError);
      }
      for (const bytes of ["0x", encoded.slice(0, -2), `${encoded}00`, `${encoded.slice(0, -1)}g`])
        assert.throws(() => decodeCctpV2Config(bytes as Hex), RangeError);
    }),
  );
});

const [, , , arbitrum, base] = cctpV2Chains;
assert.ok(arbitrum !== undefined && base !== undefined);

test("each origin has a fast and a standard route with the caps of the speeds, ordered by leaf", () => {
  const routes = buildCctpV2Routes({ settle: base, origins: cctpV2Chains.filter((chain) => chain !== base) });
  assert.equal(routes.length, 2 * (cctpV2Chains.length - 1));
  const leaves = routes.map(hashRoute);
  assert.deepEqual(leaves, leaves.toSorted());
  for (const { chainId, token, adapter, minAmount, config } of routes) {
    const chain = findCctpV2Chain(chainId) ?? assert.fail("unknown chain");
    const { finalityThresholdMin, feePpmMax, ...pinned } = decodeCctpV2Config(config);
    assert.deepEqual(pinned, { messenger: chain.messenger, domain: 6 });
    assert.deepEqual([token, adapter, minAmount], [chain.usdc, cctpV2AdapterAddress, 2n]);
    assert.equal(feePpmMax, finalityThresholdMin === 1_000 ? 3_000 : 1_000);
  }
  const isFast = routes.map(({ config }) => decodeCctpV2Config(config).finalityThresholdMin === 1_000);
  assert.equal(isFast.filter(Boolean).length, cctpV2Chains.length - 1);
});

test("the order of the origins changes no root", () => {
  const origins = cctpV2Chains.filter((chain) => chain !== base);
  const root = computeRoutesRoot(buildCctpV2Routes({ settle: base, origins }));
  fc.assert(
    fc.property(fc.shuffledSubarray(origins, { minLength: origins.length }), (shuffled) => {
      assert.equal(computeRoutesRoot(buildCctpV2Routes({ settle: base, origins: shuffled })), root);
    }),
  );
});

test("a Solana payout pins the token account, and the destination itself is no origin", () => {
  const recipient: Hex = `0x${"5a".repeat(32)}`;
  const [route] = buildCctpV2Routes({ settle: { chainId: 0n, domain: 5, recipient }, origins: [base] });
  assert.ok(route);
  assert.equal(decodeCctpV2Config(route.config).recipient, recipient);
  assert.deepEqual(buildCctpV2Routes({ settle: base, origins: [] }), []);
  assert.throws(() => buildCctpV2Routes({ settle: base, origins: [arbitrum, base] }), /destination itself/);
  assert.throws(() => buildCctpV2Routes({ settle: base, origins: [arbitrum, arbitrum] }), /another chain/);
});
