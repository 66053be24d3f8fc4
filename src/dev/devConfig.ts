import { MAX_FEE_PER_GAS_DEFAULT } from "../config/knownChains.ts";
import type { EvmChainConfig, Config } from "../config/config.ts";
import { DEV_ACCOUNTS } from "./devAccounts.ts";
import { localBridge, type LocalBridge } from "./chains/bridge.ts";
import type { LocalChain } from "./chains/localChains.ts";
import type { DevSolana } from "./devSolana.ts";

/** The chains of the dev world. No public network uses these ids. */
export const DEV_CHAINS = [
  { chainId: 900_001, name: "Dev Chain One", slug: "dev-one" },
  { chainId: 900_002, name: "Dev Chain Two", slug: "dev-two" },
] as const;

const HOST = "127.0.0.1";
/** Local blocks come every second, and anvil answers at once. */
const POLL_MS = 200;
/**
 * 1,000 in the payout currency. Larger deposits wait for the `finalized` tag, so that the dev world shows both tiers.
 */
const LARGE_PRICE_UNITS = 1_000_000_000n;

/** In millionths. Blocks here are final so soon that nothing crosses fast. */
const FAST_FEE_PPM_MAX = 500;

/** Platform fee of the demo merchants, in hundredths of a percent. */
export const DEV_FEE_BPS = 50;

/** The token that the local bridge carries. */
export const BRIDGED_SYMBOL = "USDC";

export type DevConfigOptions = {
  chains: readonly LocalChain[];
  solana: DevSolana;
  /** The local service that proves burns. */
  attestationUrl: string;
  port: number;
  /** Directory of the database; undefined keeps it in memory. */
  directory: string | undefined;
  logLevel: Config["logLevel"];
};

export function devConfig({ chains, solana, attestationUrl, port, directory, logLevel }: DevConfigOptions): Config {
  const baseUrl = `http://${HOST}:${port}`;
  return {
    environment: "test",
    baseUrl,
    listen: { host: HOST, port },
    database: { kind: "pglite", directory },
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    feeBps: DEV_FEE_BPS,
    chains: [...chains.map((chain) => devChain(chain, baseUrl)), solana.config(baseUrl)],
    bridge: { attestationUrl, fastFeePpmMax: FAST_FEE_PPM_MAX },
    defaultRail: `${DEV_CHAINS[0].slug}:usdc`,
    // Webhooks of the local world go to servers beside it.
    outbound: { allow: ["127.0.0.0/8", "::1/128"], deny: [] },
    logLevel,
  };
}

/** The bridge's contracts on a chain of the dev world, whose domain is its place in the list. */
export function devBridge(chainId: number): LocalBridge {
  return localBridge(
    chainId,
    Math.max(
      0,
      DEV_CHAINS.findIndex((known) => known.chainId === chainId),
    ),
  );
}

export function devSlug(chainId: number): string {
  return DEV_CHAINS.find((known) => known.chainId === chainId)?.slug ?? `dev-${chainId}`;
}

function devChain(chain: LocalChain, baseUrl: string): EvmChainConfig {
  const { caip2, chainId, name, rpcUrl, nodeUrl } = chain;
  const isLikePublic = nodeUrl !== undefined;
  return {
    caip2,
    chainId,
    name,
    slug: devSlug(chainId),
    rpcUrls: [nodeUrl ?? rpcUrl],
    hasForeignBloom: isLikePublic,
    // Anvil serves HTTP and WebSocket on one port.
    wsUrls: [rpcUrl.replace(/^http/, "ws")],
    publicRpcUrl: rpcUrl,
    explorerUrl: `${baseUrl}/dev/explorer/${chainId}`,
    native: { name: "Ether", symbol: "ETH", decimals: 18 },
    estimates: { blockMs: isLikePublic ? 200 : 1_000, finalizedMs: isLikePublic ? 1_000 : 3_000, feeUsdMax: "0" },
    gasKey: DEV_ACCOUNTS.operator.privateKey,
    pollMs: POLL_MS,
    finality: [
      { upToPriceUnits: LARGE_PRICE_UNITS, finality: isLikePublic ? { seconds: 2 } : { confirmations: 2 } },
      { upToPriceUnits: undefined, finality: { tag: "finalized" } },
    ],
    settleAfterMs: 0,
    settleBatchMax: 100,
    maxFeePerGas: MAX_FEE_PER_GAS_DEFAULT,
    tokens: chain.tokens.map(({ symbol, address, decimals }) => ({
      symbol,
      slug: symbol.toLowerCase(),
      address,
      decimals,
      minimumUnits: 10n ** BigInt(decimals - 2),
      isOrigin: true,
      isRail: true,
      ...(symbol === BRIDGED_SYMBOL ? { bridge: "cctp-v2" as const } : {}),
    })),
    defaultToken: "USDC",
    cctp: devBridge(chainId),
  };
}
