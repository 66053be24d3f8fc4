import type { NetworkTier } from "../../src/config/networks/network.ts";
import type { SourceKey } from "./sources.ts";

// What neither package says, by hand. Every figure names its source.

export type Fact<T> = { value: T; source: SourceKey };

const policy = <T>(value: T): Fact<T> => ({ value, source: "policy" });
const LARGE = "10000000000";
const VERY_LARGE = "250000000000";

/** Small amounts wait for some seconds, larger ones for the tag: above the limit a reorg attack may pay off. */
const secondsThenTag = (seconds: number, tag: "safe" | "finalized"): readonly NetworkTier[] => [
  { upToPriceUnits: LARGE, seconds },
  { tag },
];
/** Every amount waits for the chain's `finalized` tag. */
const FINALIZED: readonly NetworkTier[] = [{ tag: "finalized" }];
/** A rollup's block is safe when its batch is on Ethereum, and final when that block is. */
const ROLLUP: readonly NetworkTier[] = [
  { upToPriceUnits: LARGE, seconds: 10 },
  { upToPriceUnits: VERY_LARGE, tag: "safe" },
  { tag: "finalized" },
];
/** Its consensus accepts a block permanently; its own tag follows when the block is settled. */
const ACCEPTED: readonly NetworkTier[] = [{ upToPriceUnits: LARGE, confirmations: 1 }, { tag: "finalized" }];

export const FINALITY = { secondsThenTag, finalized: FINALIZED, rollup: ROLLUP, accepted: ACCEPTED };
export const ROLLUP_TIMES = { safeMs: 300_000, finalizedMs: 1_200_000 };

export type NetworkFacts = {
  slug?: string;
  name?: string;
  /** Preferred public nodes, the first of which payers' wallets use. */
  rpcUrls?: readonly Fact<string>[];
  explorerUrl?: Fact<string>;
  blockMs?: Fact<number>;
  safeMs?: Fact<number>;
  finalizedMs?: Fact<number>;
  feeUsdMax?: Fact<string>;
  pollMs?: Fact<number>;
  finality?: Fact<readonly NetworkTier[]>;
  hasForeignBloom?: Fact<boolean>;
  maxFeePerGasGwei?: Fact<string>;
  transactionGasMax?: Fact<string>;
  /** Of gas, with a rollup's share of its data, and of the native coin. */
  usual?: { feePerGasGwei: string; nativeUsd: string };
  /** The next announced fork that changes what a settlement costs; `at` is null without a date. */
  fork?: Fact<{ name: string; at: string | null }>;
  tokens?: readonly Fact<{ symbol: string; address: string; decimals: number }>[];
};

const ETHER_USD = "3000";
const ethereumTimes = { blockMs: policy(12_000), safeMs: policy(450_000), finalizedMs: policy(900_000) };
const rollup = {
  safeMs: policy(ROLLUP_TIMES.safeMs),
  finalizedMs: policy(ROLLUP_TIMES.finalizedMs),
  pollMs: policy(1_000),
  finality: policy(ROLLUP),
};
const arbitrum = {
  safeMs: policy(600_000),
  finalizedMs: policy(1_200_000),
  pollMs: policy(1_000),
  finality: policy(secondsThenTag(5, "safe")),
};
const avalanche: NetworkFacts = {
  blockMs: policy(1_500),
  finalizedMs: policy(7_000),
  pollMs: policy(1_000),
  finality: policy(ACCEPTED),
  hasForeignBloom: { value: true, source: "helicon" },
  maxFeePerGasGwei: policy("500"),
};
const transactionGasMax: Fact<string> = { value: "16777216", source: "eip7825" };
const dollarToken = (symbol: string, address: string, decimals: number) => ({
  value: { symbol, address, decimals },
  source: "usdt" as const,
});

/** By EIP-155 id. */
export const FACTS: Readonly<Record<number, NetworkFacts>> = {
  1: {
    ...ethereumTimes,
    feeUsdMax: policy("1"),
    pollMs: policy(4_000),
    finality: policy(secondsThenTag(72, "finalized")),
    maxFeePerGasGwei: policy("200"),
    transactionGasMax,
    usual: { feePerGasGwei: "2", nativeUsd: ETHER_USD },
    fork: { value: { name: "Glamsterdam", at: null }, source: "hoodi" },
  },
  11_155_111: {
    slug: "sepolia",
    name: "Sepolia",
    rpcUrls: [policy("https://ethereum-sepolia-rpc.publicnode.com"), policy("https://sepolia.drpc.org")],
    ...ethereumTimes,
    feeUsdMax: policy("0"),
    pollMs: policy(4_000),
    finality: policy(secondsThenTag(72, "finalized")),
    maxFeePerGasGwei: policy("1000"),
    transactionGasMax,
    fork: { value: { name: "Glamsterdam", at: "2026-10-06T13:53:36Z" }, source: "glamsterdam" },
  },
  8_453: {
    ...rollup,
    blockMs: { value: 200, source: "denim" },
    feeUsdMax: policy("0.02"),
    maxFeePerGasGwei: policy("10"),
    usual: { feePerGasGwei: "0.02", nativeUsd: ETHER_USD },
  },
  84_532: {
    ...rollup,
    rpcUrls: [policy("https://sepolia.base.org"), policy("https://base-sepolia-rpc.publicnode.com")],
    blockMs: { value: 200, source: "denim" },
    feeUsdMax: policy("0"),
    maxFeePerGasGwei: policy("100"),
  },
  10: {
    name: "OP Mainnet",
    ...rollup,
    feeUsdMax: policy("0.02"),
    maxFeePerGasGwei: policy("10"),
    usual: { feePerGasGwei: "0.02", nativeUsd: ETHER_USD },
  },
  11_155_420: { name: "OP Sepolia" },
  42_161: {
    name: "Arbitrum One",
    ...arbitrum,
    rpcUrls: [
      { value: "https://arb1.arbitrum.io/rpc", source: "issuer" },
      { value: "https://arbitrum-one-rpc.publicnode.com", source: "list" },
    ],
    feeUsdMax: policy("0.03"),
    maxFeePerGasGwei: policy("10"),
    usual: { feePerGasGwei: "0.03", nativeUsd: ETHER_USD },
    tokens: [dollarToken("USDT0", "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6)],
  },
  421_614: { ...arbitrum, maxFeePerGasGwei: policy("100") },
  137: {
    rpcUrls: [policy("https://polygon-bor-rpc.publicnode.com"), { value: "https://polygon.drpc.org", source: "viem" }],
    blockMs: { value: 2_000, source: "viem" },
    finalizedMs: policy(8_000),
    feeUsdMax: policy("0.02"),
    pollMs: policy(2_000),
    finality: policy(FINALIZED),
    maxFeePerGasGwei: policy("5000"),
    usual: { feePerGasGwei: "50", nativeUsd: "0.25" },
    tokens: [dollarToken("USDT0", "0xc2132D05D31c914a87C6611C10748AEb04B58e8F", 6)],
  },
  56: {
    slug: "bnb",
    name: "BNB Smart Chain",
    rpcUrls: [policy("https://bsc-rpc.publicnode.com"), { value: "https://bsc-dataseed1.binance.org", source: "list" }],
    blockMs: { value: 450, source: "fermi" },
    finalizedMs: policy(1_500),
    feeUsdMax: policy("0.03"),
    pollMs: policy(1_000),
    finality: policy(FINALIZED),
    maxFeePerGasGwei: policy("20"),
    usual: { feePerGasGwei: "0.1", nativeUsd: "800" },
    tokens: [
      dollarToken("USDT", "0x55d398326f99059fF775485246999027B3197955", 18),
      dollarToken("USDC", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", 18),
    ],
  },
  43_114: {
    name: "Avalanche C-Chain",
    ...avalanche,
    feeUsdMax: policy("0.05"),
    usual: { feePerGasGwei: "2", nativeUsd: "20" },
  },
  43_113: avalanche,
  130: {
    rpcUrls: [
      { value: "https://mainnet.unichain.org", source: "issuer" },
      { value: "https://unichain-rpc.publicnode.com", source: "list" },
    ],
  },
  146: {
    rpcUrls: [
      { value: "https://rpc.soniclabs.com", source: "issuer" },
      { value: "https://sonic-rpc.publicnode.com", source: "list" },
    ],
  },
  25: {
    rpcUrls: [
      { value: "https://evm.cronos.org", source: "issuer" },
      { value: "https://cronos-evm-rpc.publicnode.com", source: "list" },
    ],
  },
  80_002: { slug: "polygon-amoy" },
  81_224: { name: "Codex" },
  51: { name: "XDC Apothem" },
};

/** A second operator's public node, by EIP-155 id, for networks whose issuer and viem name one alone. Codex has no other. */
export const SECOND_NODES: Readonly<Record<number, string>> = {
  10: "https://optimism-rpc.publicnode.com",
  143: "https://monad-mainnet.drpc.org",
  196: "https://xlayer.drpc.org",
  480: "https://worldchain.drpc.org",
  999: "https://hyperliquid.drpc.org",
  1_329: "https://sei.drpc.org",
  1_672: "https://pharos.drpc.org",
  1_776: "https://injectiveevm-rpc.polkachu.com",
  2_818: "https://morph.drpc.org",
  3_343: "https://edge.drpc.org",
  9_745: "https://plasma.drpc.org",
  43_114: "https://avalanche-c-chain-rpc.publicnode.com",
  57_073: "https://ink.drpc.org",
  59_144: "https://linea-rpc.publicnode.com",
  98_866: "https://plume.drpc.org",
};
