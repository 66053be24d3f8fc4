import type { ChainConfig, Config, TokenConfig } from "../config.ts";
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
};

export type Catalog = {
  readonly chains: readonly ChainConfig[];
  readonly assets: readonly Asset[];
  readonly defaultRailId: string;
};

export function buildCatalog(config: Pick<Config, "chains" | "defaultRail">): Catalog {
  return {
    chains: config.chains,
    assets: config.chains.flatMap((chain) => chain.tokens.map((token) => assetOf(chain, token))),
    defaultRailId: config.defaultRail,
  };
}

function assetOf(chain: ChainConfig, token: TokenConfig): Asset {
  return {
    chain: chain.caip2,
    namespace: namespaceOf(chain.caip2),
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
  };
}

/** The asset of a token in stored form, whether or not it may be paid in or out today. */
export function findAsset(catalog: Catalog, chain: string, token: string): Asset | undefined {
  return catalog.assets.find((asset) => asset.chain === chain && asset.token === token);
}

export function findChain(catalog: Catalog, chain: string): ChainConfig | undefined {
  return catalog.chains.find((candidate) => candidate.caip2 === chain);
}

/** Every token whose movements are recorded on a chain: origins and rails alike. */
export function watchedTokens(catalog: Catalog, chain: Caip2): string[] {
  return catalog.assets.filter((asset) => asset.chain === chain).map((asset) => asset.token);
}
