import type { Network } from "../../src/config/networks/network.ts";
import { attestationOf, attestationSources } from "./attestation.ts";
import { ISSUER } from "./issuer.ts";
import type { SourceKey } from "./sources.ts";

// The clusters of Solana. An account of a token has the mint's decimals; both tokens have six.

const CLUSTERS = [
  {
    reference: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    chainId: 101,
    slug: "solana",
    name: "Solana",
    environment: "live",
    rpcUrls: ["https://api.mainnet-beta.solana.com", "https://solana.api.onfinality.io/public"],
    key: "Solana",
  },
  {
    reference: "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3",
    chainId: 102,
    slug: "solana-testnet",
    name: "Solana Testnet",
    environment: "test",
    rpcUrls: ["https://api.testnet.solana.com"],
    key: undefined,
  },
  {
    reference: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    chainId: 103,
    slug: "solana-devnet",
    name: "Solana Devnet",
    environment: "test",
    rpcUrls: ["https://api.devnet.solana.com"],
    key: "Solana_Devnet",
  },
] as const;
const DECIMALS = 6;

export function solanaNetworks(): Network[] {
  return CLUSTERS.map(({ reference, key, ...cluster }): Network => {
    const issuer = ISSUER.chains.find((chain) => chain.key === key);
    const tokens = [
      ["USDC", issuer?.usdc],
      ["EURC", issuer?.eurc],
      ["USDT", issuer?.usdt],
    ] as const;
    const { domain, messenger, transmitter, fastBlocks, standardBlocks } = issuer?.cctp ?? {};
    const times = key === undefined ? {} : attestationOf(key);
    const sources: Record<string, SourceKey> = {
      caip2: "clusters",
      kind: "policy",
      chainId: "policy",
      slug: "policy",
      name: "policy",
      environment: "clusters",
      native: "clusters",
      explorerUrl: "policy",
      rpcUrls: "clusters",
      ...(cluster.rpcUrls.length > 1 ? { "rpcUrls[1]": "onfinality" as const } : {}),
      tokens: "issuer",
      ...(issuer === undefined ? {} : { cctp: "issuer" as const }),
      blockMs: "policy",
      finalizedMs: "policy",
      feeUsdMax: "policy",
      pollMs: "policy",
      finality: "policy",
      ...Object.fromEntries((key === undefined ? [] : attestationSources(key)).map(([f, s]) => [`cctp.${f}`, s])),
    };
    return {
      caip2: `solana:${reference}`,
      kind: "solana",
      ...cluster,
      native: { name: "Solana", symbol: "SOL", decimals: 9 },
      explorerUrl: "https://explorer.solana.com",
      tokens: tokens.flatMap(([symbol, address]) => (address ? [{ symbol, address, decimals: DECIMALS }] : [])),
      ...(domain === undefined || !messenger || !transmitter
        ? {}
        : {
            cctp: {
              domain,
              messenger,
              transmitter,
              fastBlocks: fastBlocks ?? 0,
              standardBlocks: standardBlocks ?? 0,
              ...times,
            },
          }),
      blockMs: 400,
      finalizedMs: 13_000,
      feeUsdMax: "0.01",
      pollMs: 1_000,
      finality: [{ tag: "finalized" }],
      sources,
    };
  });
}
