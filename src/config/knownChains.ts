import { caip2, type Caip2 } from "../kernel/caip.ts";
import type { EvmChainConfig, FinalityTier } from "./config.ts";

// Defaults of public networks. The configuration file overrides each of them.

export type KnownChain = Pick<
  EvmChainConfig,
  "name" | "slug" | "publicRpcUrl" | "explorerUrl" | "native" | "estimates" | "pollMs" | "finality" | "maxFeePerGas"
> & {
  isTestnet: boolean;
  /** Its headers may hold the bloom of other blocks. */
  hasForeignBloom?: boolean;
};

const WEI_PER_GWEI = 1_000_000_000n;
/** The fee ceiling of an unknown network, in wei per gas. */
export const MAX_FEE_PER_GAS_DEFAULT = 500n * WEI_PER_GWEI;

const ETHER = { name: "Ether", symbol: "ETH", decimals: 18 };
/** Price units are millionths of the payout currency. */
const PRICE_UNITS_PER_CURRENCY_UNIT = 1_000_000n;
const LARGE_PRICE_UNITS = 10_000n * PRICE_UNITS_PER_CURRENCY_UNIT;
const VERY_LARGE_PRICE_UNITS = 250_000n * PRICE_UNITS_PER_CURRENCY_UNIT;

/** Every amount waits for the chain's `finalized` tag. */
const finalizedFinality: FinalityTier[] = [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }];

/**
 * Small amounts wait for some seconds, larger ones for the tag: above the limit a reorg attack may pay off. Seconds,
 * because networks change their block time.
 */
function secondsThenTag(seconds: number, tag: "safe" | "finalized"): FinalityTier[] {
  return [
    { upToPriceUnits: LARGE_PRICE_UNITS, finality: { seconds } },
    { upToPriceUnits: undefined, finality: { tag } },
  ];
}

/** Its consensus accepts a block permanently; its own tag follows when the block is settled. */
const acceptedFinality: FinalityTier[] = [
  { upToPriceUnits: LARGE_PRICE_UNITS, finality: { confirmations: 1 } },
  { upToPriceUnits: undefined, finality: { tag: "finalized" } },
];

const rollupFinality: FinalityTier[] = [
  { upToPriceUnits: LARGE_PRICE_UNITS, finality: { seconds: 10 } },
  { upToPriceUnits: VERY_LARGE_PRICE_UNITS, finality: { tag: "safe" } },
  { upToPriceUnits: undefined, finality: { tag: "finalized" } },
];

/** A rollup's block is safe when its batch is on Ethereum, and final when that block is. */
const ROLLUP_ESTIMATES = { blockMs: 2_000, safeMs: 300_000, finalizedMs: 1_200_000 };
/** Five blocks have one timestamp. */
const BASE_ESTIMATES = { ...ROLLUP_ESTIMATES, blockMs: 200 };

const KNOWN_CHAINS: ReadonlyMap<number, KnownChain> = new Map([
  [
    1,
    {
      name: "Ethereum",
      slug: "ethereum",
      publicRpcUrl: "https://ethereum-rpc.publicnode.com",
      explorerUrl: "https://etherscan.io",
      native: ETHER,
      estimates: { blockMs: 12_000, safeMs: 450_000, finalizedMs: 900_000, feeUsdMax: "1" },
      pollMs: 4_000,
      finality: secondsThenTag(72, "finalized"),
      maxFeePerGas: 200n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
  [
    11_155_111,
    {
      name: "Sepolia",
      slug: "sepolia",
      publicRpcUrl: "https://ethereum-sepolia-rpc.publicnode.com",
      explorerUrl: "https://sepolia.etherscan.io",
      native: ETHER,
      estimates: { blockMs: 12_000, safeMs: 450_000, finalizedMs: 900_000, feeUsdMax: "0" },
      pollMs: 4_000,
      finality: secondsThenTag(72, "finalized"),
      maxFeePerGas: 1_000n * WEI_PER_GWEI,
      isTestnet: true,
    },
  ],
  [
    8_453,
    {
      name: "Base",
      slug: "base",
      publicRpcUrl: "https://mainnet.base.org",
      explorerUrl: "https://basescan.org",
      native: ETHER,
      estimates: { ...BASE_ESTIMATES, feeUsdMax: "0.02" },
      pollMs: 1_000,
      finality: rollupFinality,
      maxFeePerGas: 10n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
  [
    84_532,
    {
      name: "Base Sepolia",
      slug: "base-sepolia",
      publicRpcUrl: "https://sepolia.base.org",
      explorerUrl: "https://sepolia.basescan.org",
      native: ETHER,
      estimates: { ...BASE_ESTIMATES, feeUsdMax: "0" },
      pollMs: 1_000,
      finality: rollupFinality,
      maxFeePerGas: 100n * WEI_PER_GWEI,
      isTestnet: true,
    },
  ],
  [
    10,
    {
      name: "OP Mainnet",
      slug: "optimism",
      publicRpcUrl: "https://mainnet.optimism.io",
      explorerUrl: "https://optimistic.etherscan.io",
      native: ETHER,
      estimates: { ...ROLLUP_ESTIMATES, feeUsdMax: "0.02" },
      pollMs: 1_000,
      finality: rollupFinality,
      maxFeePerGas: 10n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
  [
    42_161,
    {
      name: "Arbitrum One",
      slug: "arbitrum",
      publicRpcUrl: "https://arb1.arbitrum.io/rpc",
      explorerUrl: "https://arbiscan.io",
      native: ETHER,
      estimates: { blockMs: 250, safeMs: 600_000, finalizedMs: 1_200_000, feeUsdMax: "0.03" },
      pollMs: 1_000,
      finality: secondsThenTag(5, "safe"),
      maxFeePerGas: 10n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
  [
    137,
    {
      name: "Polygon",
      slug: "polygon",
      publicRpcUrl: "https://polygon-bor-rpc.publicnode.com",
      explorerUrl: "https://polygonscan.com",
      native: { name: "POL", symbol: "POL", decimals: 18 },
      estimates: { blockMs: 2_000, finalizedMs: 8_000, feeUsdMax: "0.02" },
      pollMs: 2_000,
      finality: finalizedFinality,
      maxFeePerGas: 5_000n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
  [
    56,
    {
      name: "BNB Smart Chain",
      slug: "bnb",
      publicRpcUrl: "https://bsc-rpc.publicnode.com",
      explorerUrl: "https://bscscan.com",
      native: { name: "BNB", symbol: "BNB", decimals: 18 },
      estimates: { blockMs: 450, finalizedMs: 1_500, feeUsdMax: "0.03" },
      pollMs: 1_000,
      finality: finalizedFinality,
      maxFeePerGas: 20n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
  [
    43_114,
    {
      name: "Avalanche C-Chain",
      slug: "avalanche",
      publicRpcUrl: "https://api.avax.network/ext/bc/C/rpc",
      explorerUrl: "https://snowtrace.io",
      native: { name: "Avalanche", symbol: "AVAX", decimals: 18 },
      estimates: { blockMs: 1_500, finalizedMs: 7_000, feeUsdMax: "0.05" },
      pollMs: 1_000,
      finality: acceptedFinality,
      hasForeignBloom: true,
      maxFeePerGas: 500n * WEI_PER_GWEI,
      isTestnet: false,
    },
  ],
]);

/** A public network with its EIP-155 id. */
export type ListedChain = KnownChain & { chainId: number; caip2: Caip2 };

export function listKnownChains(): ListedChain[] {
  return [...KNOWN_CHAINS].map(([chainId, chain]) => ({ ...chain, chainId, caip2: caip2("eip155", String(chainId)) }));
}

export function findKnownChain(chainId: number): KnownChain | undefined {
  return KNOWN_CHAINS.get(chainId);
}
