import { writeFile } from "node:fs/promises";
import { concat, encodeAbiParameters, getAddress, getContractAddress, keccak256, stringToHex } from "viem";
import type { Hex } from "viem";
import { hubAbi } from "../src/hubAbi.generated.ts";
import { cctpV2AdapterAddress } from "../src/cctpV2Adapter.generated.ts";
import { currentHub, firstHub, type Hub } from "../src/hubs.ts";
import type { Route } from "../src/routes.ts";
import type { Terms } from "../src/terms.ts";

// Writes vectors.json with viem alone, so that tests compare the package with independent code. Everything outside
// `laterHubs` belongs to the first hub and is frozen. Run it only after an intended change of the contracts, which
// changes the addresses of the current hub.

const zero: Hex = `0x${"0".repeat(40)}`;
const zeroWord: Hex = `0x${"0".repeat(64)}`;
const usdc: Hex = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const merchant: Hex = "0x1111111111111111111111111111111111111111";
const operator: Hex = "0x2222222222222222222222222222222222222222";
const deploymentId: Hex = keccak256(stringToHex("an example deployment"));

const baseTerms: Terms = {
  salt: deriveSalt("pi_example_0001"),
  settleChainId: 8_453n,
  settleToken: usdc,
  payout: merchant,
  feeRecipient: operator,
  feeBps: 50,
  recovery: merchant,
  recoverAfter: Date.UTC(2027, 5, 1) / 1000,
  routesRoot: zeroWord,
};

const namedTerms: Readonly<Record<string, Terms>> = {
  usual: baseTerms,
  "no fee and no recovery": { ...baseTerms, feeRecipient: zero, feeBps: 0, recovery: zero },
  "native coin": { ...baseTerms, settleToken: zero },
  "with routes": { ...baseTerms, routesRoot: keccak256("0x01") },
  "payout on another kind of chain": { ...baseTerms, settleChainId: 0n, settleToken: zero, payout: zero },
  "largest values": {
    salt: `0x${"ff".repeat(32)}`,
    settleChainId: (1n << 64n) - 1n,
    settleToken: `0x${"ff".repeat(20)}`,
    payout: `0x${"ff".repeat(20)}`,
    feeRecipient: `0x${"ff".repeat(20)}`,
    feeBps: 10_000,
    recovery: `0x${"ff".repeat(20)}`,
    recoverAfter: 2 ** 48 - 1,
    routesRoot: `0x${"ff".repeat(32)}`,
  },
};

const messenger: Hex = "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d";
const route = { chainId: 8_453n, token: usdc, adapter: messenger, minAmount: 1_000_000n } as const;
const routes = [
  { ...route, config: "0x010203" },
  { ...route, chainId: 1n, config: "0x" },
  { ...route, token: zero, config: `0x${"ab".repeat(33)}` },
  { ...route, minAmount: (1n << 256n) - 1n, config: "0x00" },
  { ...route, chainId: (1n << 64n) - 1n, minAmount: 0n, config: "0x00" },
] as const;

function deriveSalt(intentId: string): Hex {
  const types = [{ type: "string" }, { type: "bytes32" }, { type: "string" }] as const;
  return keccak256(encodeAbiParameters(types, ["tributary.inbox.v1", deploymentId, intentId]));
}

/**
 * The clone names the implementation's address without its leading zero bytes: 45 bytes for the first hub, 42 for the
 * current one.
 */
const cloneParts: Readonly<Record<number, readonly [Hex, Hex, Hex]>> = {
  [firstHub.version]: [
    "0x602d5f8160095f39f35f5f365f5f37365f73",
    firstHub.implementation,
    "0x5af43d5f5f3e6029573d5ffd5b3d5ff3",
  ],
  [currentHub.version]: [
    "0x602a5f8160095f39f35f5f365f5f37365f70",
    `0x${currentHub.address.slice(8)}`,
    "0x5af43d5f5f3e6026573d5ffd5b3d5ff3",
  ],
};

function deriveInbox(terms: Terms, hub: Hub) {
  const inputs = hubAbi.find((item) => item.type === "function" && item.name === "inboxOf")?.inputs ?? [];
  const termsHash = keccak256(encodeAbiParameters(inputs, [terms]));
  const bytecode = concat(cloneParts[hub.version] ?? []);
  const inboxAddress = getContractAddress({ opcode: "CREATE2", from: hub.address, salt: termsHash, bytecode });
  return { termsHash, inboxAddress };
}

function hashLeaf({ chainId, token, adapter, minAmount, config }: Route): Hex {
  const types = ["uint64", "address", "address", "uint256", "bytes32"].map((type) => ({ type }));
  return keccak256(keccak256(encodeAbiParameters(types, [chainId, token, adapter, minAmount, keccak256(config)])));
}

function hashPair(one: Hex, other: Hex): Hex {
  return keccak256(one < other ? concat([one, other]) : concat([other, one]));
}

// A tree of five leaves: three levels, and the odd last node is carried up twice. The proofs are written by hand.
const [first, second, third, fourth, fifth] = routes;
const leaves = [first, second, third, fourth, fifth].map(hashLeaf) as [Hex, Hex, Hex, Hex, Hex];
const left = hashPair(leaves[0], leaves[1]);
const right = hashPair(leaves[2], leaves[3]);
const inner = hashPair(left, right);
const proofs = [
  [leaves[1], right, leaves[4]],
  [leaves[0], right, leaves[4]],
  [leaves[3], left, leaves[4]],
  [leaves[2], left, leaves[4]],
  [inner],
];

const cctpV2Types = ["address", "uint32", "uint32", "uint32", "bytes32"].map((type) => ({ type }));
const cctpV2Configs = [
  { messenger, domain: 6, finalityThresholdMin: 1_000, feePpmMax: 1_400, recipient: zeroWord },
  { messenger, domain: 5, finalityThresholdMin: 2_000, feePpmMax: 0, recipient: keccak256("0x05") },
].map((config) => ({ config, encoded: encodeAbiParameters(cctpV2Types, Object.values(config)) }));

// What an intent that is paid on Base pins when Ethereum, Arbitrum and Avalanche are origins: a tree of six leaves.
const cctpV2Origins = [
  { chainId: 1n, token: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48" },
  { chainId: 42_161n, token: "0xaf88d065e77c8cc2239327c5edb3a432268e5831" },
  { chainId: 43_114n, token: "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e" },
] as const;
const cctpV2Speeds = [
  { finalityThresholdMin: 1_000, feePpmMax: 3_000 },
  { finalityThresholdMin: 2_000, feePpmMax: 1_000 },
];
const cctpV2Leaves = cctpV2Origins
  .flatMap((origin) =>
    cctpV2Speeds.map(({ finalityThresholdMin, feePpmMax }) => {
      const config = encodeAbiParameters(cctpV2Types, [messenger, 6, finalityThresholdMin, feePpmMax, zeroWord]);
      const pinned = { ...origin, adapter: cctpV2AdapterAddress, minAmount: 2n, config };
      return { route: pinned, leaf: hashLeaf(pinned) };
    }),
  )
  .toSorted((one, other) => (one.leaf < other.leaf ? -1 : 1));
const [one, two, three, four, five, six] = cctpV2Leaves.map(({ leaf }) => leaf) as [Hex, Hex, Hex, Hex, Hex, Hex];
const cctpV2Root = hashPair(hashPair(hashPair(one, two), hashPair(three, four)), hashPair(five, six));

function deriveInboxes(hub: Hub) {
  return Object.entries(namedTerms).map(([name, terms]) => ({ name, terms, ...deriveInbox(terms, hub) }));
}

const vectors = {
  ...contractsOf(firstHub),
  deploymentId,
  salts: ["pi_example_0001", "", "ü€😀", "x".repeat(64)].map((intentId) => ({ intentId, salt: deriveSalt(intentId) })),
  inboxes: deriveInboxes(firstHub),
  recoverAfter: [
    { createdAt: "2026-01-02T00:00:00.000Z", recoverAfter: Date.UTC(2026, 6, 1) / 1000 },
    { createdAt: "2026-01-02T00:00:00.001Z", recoverAfter: Date.UTC(2026, 7, 1) / 1000 },
    { createdAt: "2026-11-21T12:00:00.000Z", recoverAfter: Date.UTC(2027, 5, 1) / 1000 },
  ],
  routes: routes.map((each, index) => ({ route: each, leaf: hashLeaf(each), proof: proofs[index] })),
  routesRoot: hashPair(inner, leaves[4]),
  cctpV2Adapter: getAddress(cctpV2AdapterAddress),
  cctpV2Configs,
  cctpV2Routes: { settleChainId: 8_453n, routes: cctpV2Leaves, routesRoot: cctpV2Root },
  laterHubs: [{ ...contractsOf(currentHub), inboxes: deriveInboxes(currentHub) }],
};

function contractsOf({ version, address, implementation }: Hub) {
  return { version, hub: getAddress(address), implementation: getAddress(implementation) };
}

const digits = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
await writeFile(new URL("../vectors.json", import.meta.url), `${JSON.stringify(vectors, digits, 2)}\n`);
