import { parseUnits } from "../kernel/units.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { EvmChainConfig, FinalityTier } from "./config.ts";
import { NETWORKS, type Network, type NetworkTier } from "./networks/network.ts";

// Defaults of public networks, from the catalogue. The configuration file overrides each of them.

export type KnownChain = Pick<
  EvmChainConfig,
  "name" | "slug" | "publicRpcUrl" | "explorerUrl" | "native" | "estimates" | "pollMs" | "finality" | "maxFeePerGas"
> & {
  isTestnet: boolean;
  /** Its headers may hold the bloom of other blocks. */
  hasForeignBloom?: boolean;
};

/** A public network with its EIP-155 id. */
export type ListedChain = KnownChain & { chainId: number; caip2: Caip2 };

const GWEI_DECIMALS = 9;
/** The fee ceiling of an unknown network, in wei per gas. */
export const MAX_FEE_PER_GAS_DEFAULT = 500n * 10n ** BigInt(GWEI_DECIMALS);

const KNOWN_CHAINS: ReadonlyMap<number, ListedChain> = new Map(
  NETWORKS.filter(({ kind }) => kind === "evm").map((network) => [network.chainId, toKnownChain(network)]),
);

export function listKnownChains(): ListedChain[] {
  return [...KNOWN_CHAINS.values()];
}

export function findKnownChain(chainId: number): ListedChain | undefined {
  return KNOWN_CHAINS.get(chainId);
}

function toKnownChain(network: Network): ListedChain {
  const { caip2, chainId, name, slug, explorerUrl, native, pollMs, hasForeignBloom, maxFeePerGasGwei } = network;
  const ceiling = maxFeePerGasGwei === undefined ? undefined : parseUnits(maxFeePerGasGwei, GWEI_DECIMALS);
  return {
    caip2,
    chainId,
    name,
    slug,
    publicRpcUrl: network.rpcUrls[0] ?? "",
    explorerUrl,
    native,
    estimates: estimatesOf(network),
    pollMs,
    finality: network.finality.map(toTier),
    maxFeePerGas: ceiling ?? MAX_FEE_PER_GAS_DEFAULT,
    isTestnet: network.environment === "test",
    ...(hasForeignBloom === undefined ? {} : { hasForeignBloom }),
  };
}

export function estimatesOf({ blockMs, safeMs, finalizedMs, feeUsdMax }: Network): KnownChain["estimates"] {
  return {
    ...(blockMs === undefined ? {} : { blockMs }),
    ...(safeMs === undefined ? {} : { safeMs }),
    ...(finalizedMs === undefined ? {} : { finalizedMs }),
    ...(feeUsdMax === undefined ? {} : { feeUsdMax }),
  };
}

function toTier({ upToPriceUnits, seconds, confirmations, tag }: NetworkTier): FinalityTier {
  return {
    upToPriceUnits: upToPriceUnits === undefined ? undefined : BigInt(upToPriceUnits),
    finality: seconds !== undefined ? { seconds } : tag !== undefined ? { tag } : { confirmations: confirmations ?? 1 },
  };
}
