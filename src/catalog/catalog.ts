import {
  isSolanaChainConfig,
  type ChainConfig,
  type ChainDescription,
  type Config,
  type TokenConfig,
} from "../config/config.ts";
import { namespaceOf, referenceOf, type Caip2, type Namespace } from "../kernel/caip.ts";

// The live tokens: origins, which a payer may deposit, and rails, in which a merchant may be paid. Both come from the
// configuration at start and never change while the process runs. Each intent stores the values that it depends on.

export type Asset = {
  chain: Caip2;
  namespace: Namespace;
  reference: string;
  chainId: number;
  chainName: string;
  /** `<chain slug>:<token slug>`, both lower case. */
  railId: string;
  symbol: string;
  /** The token in its stored form. */
  token: string;
  decimals: number;
  minimumUnits: bigint;
  /** Of a rail: the smallest deposit on another chain that crosses to it alone, in its smallest units. */
  crossingMinimumUnits: bigint;
  isOrigin: boolean;
  isRail: boolean;
  /** Whether the configuration allows source inboxes for it. */
  isIssuing: boolean;
  /** The issuer of its source inboxes: this service, or the remote gate. */
  gate: "local" | "remote";
  /** The bridge that carries it to the rails of other chains. */
  bridge: "cctp-v2" | undefined;
};

export type Catalog = {
  /** The watched chains. */
  readonly chains: readonly ChainConfig[];
  /** All assets of the configuration. */
  readonly knownChains: readonly ChainDescription[];
  readonly assets: readonly Asset[];
  readonly defaultRailId: string;
  /** Tokens, and programs that settle inboxes. A payout to one of these addresses is lost. */
  readonly contracts: ReadonlySet<string>;
};

export function buildCatalog(config: Pick<Config, "chains" | "solanaChains" | "defaultRail">): Catalog {
  const knownChains = [...config.chains, ...(config.solanaChains ?? [])];
  return {
    chains: config.chains,
    knownChains,
    assets: knownChains.flatMap((chain) => chain.tokens.map((token) => toAsset(chain, token))),
    defaultRailId: config.defaultRail,
    contracts: new Set([
      ...knownChains.flatMap(({ tokens }) => tokens.map(({ address }) => address)),
      ...config.chains.filter(isSolanaChainConfig).map(({ program }) => program),
    ]),
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
    crossingMinimumUnits: token.crossingMinimumUnits ?? 0n,
    isOrigin: token.isOrigin,
    isRail: token.isRail,
    isIssuing: token.isIssuing ?? true,
    gate: chain.gate ?? "local",
    bridge: token.bridge,
  };
}

/** Finds the asset of a token in stored form, whether or not it is an origin or a rail. */
export function findAsset(catalog: Catalog, chain: string, token: string): Asset | undefined {
  return catalog.assets.find((asset) => asset.chain === chain && asset.token === token);
}

/** Finds a watched chain. */
export function findWatchedChain(catalog: Catalog, chain: string): ChainConfig | undefined {
  return catalog.chains.find((candidate) => candidate.caip2 === chain);
}

/** Finds a chain of the configuration, watched or not. */
export function findChainDescription(catalog: Catalog, chain: string): ChainDescription | undefined {
  return catalog.knownChains.find((candidate) => candidate.caip2 === chain);
}

/** The tokens of a chain whose movements are recorded: all origins and rails. */
export function watchedTokens(catalog: Catalog, chain: Caip2): string[] {
  return catalog.assets.filter((asset) => asset.chain === chain).map((asset) => asset.token);
}
