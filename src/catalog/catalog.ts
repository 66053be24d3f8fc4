import type { ChainConfig, ChainDescription, Config, TokenConfig } from "../config/config.ts";
import { namespaceOf, referenceOf, type Caip2, type Namespace } from "../kernel/caip.ts";

// What is live: the tokens a payer may deposit (origins) and those a merchant may be paid in (rails). Both are read from the
// configuration at start and never change while the process runs; what an intent depends on is pinned on the intent.

export type Asset = {
  chain: Caip2;
  namespace: Namespace;
  reference: string;
  chainId: number;
  chainName: string;
  /** `<chain slug>:<token slug>`, both lower case. */
  railId: string;
  symbol: string;
  /** Stored form. */
  token: string;
  decimals: number;
  minimumUnits: bigint;
  isOrigin: boolean;
  isRail: boolean;
  /** Whether the configuration lets source inboxes be issued for it. */
  isIssuing: boolean;
  /** Who issues them: this service, or the remote gate. */
  gate: "local" | "remote";
};

export type Catalog = {
  /** Those that are watched. */
  readonly chains: readonly ChainConfig[];
  /** All that anything is told of. */
  readonly knownChains: readonly ChainDescription[];
  readonly assets: readonly Asset[];
  readonly defaultRailId: string;
};

export function buildCatalog(config: Pick<Config, "chains" | "solanaChains" | "defaultRail">): Catalog {
  const knownChains = [...config.chains, ...(config.solanaChains ?? [])];
  return {
    chains: config.chains,
    knownChains,
    assets: knownChains.flatMap((chain) => chain.tokens.map((token) => toAsset(chain, token))),
    defaultRailId: config.defaultRail,
  };
}

function toAsset(chain: ChainDescription, token: TokenConfig): Asset {
  const namespace = namespaceOf(chain.caip2);
  return {
    chain: chain.caip2,
    namespace,
    reference: referenceOf(chain.caip2),
    chainId: chain.chainId,
    chainName: chain.name,
    railId: `${chain.slug}:${token.slug}`,
    symbol: token.symbol,
    token: token.address,
    decimals: token.decimals,
    minimumUnits: token.minimumUnits,
    isOrigin: token.isOrigin,
    isRail: token.isRail,
    isIssuing: token.isIssuing ?? true,
    // An address on Solana needs somebody who holds its key, and that is never this service.
    gate: namespace === "solana" ? "remote" : (chain.gate ?? "local"),
  };
}

/** The asset of a token in stored form, whether or not it may be paid in or out today. */
export function findAsset(catalog: Catalog, chain: string, token: string): Asset | undefined {
  return catalog.assets.find((asset) => asset.chain === chain && asset.token === token);
}

/** A chain that is watched. */
export function findWatchedChain(catalog: Catalog, chain: string): ChainConfig | undefined {
  return catalog.chains.find((candidate) => candidate.caip2 === chain);
}

/** A chain of the configuration, watched or not. */
export function findChainDescription(catalog: Catalog, chain: string): ChainDescription | undefined {
  return catalog.knownChains.find((candidate) => candidate.caip2 === chain);
}

/** Every token whose movements are recorded on a chain: origins and rails alike. */
export function watchedTokens(catalog: Catalog, chain: Caip2): string[] {
  return catalog.assets.filter((asset) => asset.chain === chain).map((asset) => asset.token);
}
