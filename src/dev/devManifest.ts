import { displayAddress } from "../kernel/caip.ts";
import { DEV_ACCOUNTS } from "./devAccounts.ts";
import { devSlug } from "./devConfig.ts";
import type { LocalChain } from "./chains/localChains.ts";
import type { DevSolana } from "./devSolana.ts";
import type { ManifestChain } from "./manifestChain.ts";

/** Addresses and keys for programs that use the dev world; the first line of `tributary dev --json`. */
export type DevManifest = {
  baseUrl: string;
  /** The documentation. The page of an error is at `/errors/<code>` below it. */
  docsUrl: string;
  accounts: ManifestAccount[];
  /** The EVM chains, then Solana. */
  chains: ManifestChain[];
  payer: { address: string; privateKey: string };
  solana: {
    /** Its private key is the base58 of 64 bytes. */
    payer: { address: string; privateKey: string };
    payoutWallet: string;
  };
};

export type ManifestAccount = {
  name: string;
  accountId: string;
  apiKey: string;
  /** A valid key without scopes, to test how the API rejects it. */
  unscopedKey: string;
  payoutWallet: string;
};

export function buildManifest(parts: {
  baseUrl: string;
  accounts: ManifestAccount[];
  chains: readonly LocalChain[];
  solana: DevSolana;
}): DevManifest {
  const { baseUrl, accounts, chains, solana } = parts;
  return {
    baseUrl,
    docsUrl: `${baseUrl}/docs`,
    accounts,
    chains: [
      ...chains.map((chain) => describeChain({ ...chain, slug: devSlug(chain.chainId) })),
      describeChain(solana.chain),
    ],
    payer: {
      address: displayAddress("eip155:1", DEV_ACCOUNTS.payer.address),
      privateKey: DEV_ACCOUNTS.payer.privateKey,
    },
    solana: { payer: solana.payer, payoutWallet: solana.payoutWallet },
  };
}

function describeChain({ caip2, chainId, slug, name, rpcUrl, tokens }: ManifestChain): ManifestChain {
  return {
    caip2,
    chainId,
    slug,
    name,
    rpcUrl,
    tokens: tokens.map(({ symbol, address, decimals }) => ({
      symbol,
      address: displayAddress(caip2, address),
      decimals,
    })),
  };
}
