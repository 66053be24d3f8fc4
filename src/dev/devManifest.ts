import { displayAddress } from "../kernel/caip.ts";
import { DEV_ACCOUNTS } from "./devAccounts.ts";
import { devSlug } from "./devConfig.ts";
import type { LocalChain } from "./chains/localChains.ts";

/** Addresses and keys for programs that use the dev world; the first line of `tributary dev --json`. */
export type DevManifest = {
  baseUrl: string;
  /** The documentation. The page of an error is at `/errors/<code>` below it. */
  docsUrl: string;
  accounts: ManifestAccount[];
  chains: ManifestChain[];
  payer: { address: string; privateKey: string };
};

export type ManifestAccount = {
  name: string;
  accountId: string;
  apiKey: string;
  /** A valid key without scopes, to test how the API rejects it. */
  unscopedKey: string;
  payoutWallet: string;
};

export type ManifestChain = {
  caip2: string;
  chainId: number;
  slug: string;
  name: string;
  rpcUrl: string;
  tokens: { symbol: string; address: string; decimals: number }[];
};

export function buildManifest(parts: {
  baseUrl: string;
  accounts: ManifestAccount[];
  chains: readonly LocalChain[];
}): DevManifest {
  const { baseUrl, accounts, chains } = parts;
  return {
    baseUrl,
    docsUrl: `${baseUrl}/docs`,
    accounts,
    chains: chains.map(({ caip2, chainId, name, rpcUrl, tokens }) => ({
      caip2,
      chainId,
      slug: devSlug(chainId),
      name,
      rpcUrl,
      tokens: tokens.map(({ symbol, address, decimals }) => ({
        symbol,
        address: displayAddress(caip2, address),
        decimals,
      })),
    })),
    payer: {
      address: displayAddress("eip155:1", DEV_ACCOUNTS.payer.address),
      privateKey: DEV_ACCOUNTS.payer.privateKey,
    },
  };
}
