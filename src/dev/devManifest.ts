import { displayAddress } from "../kernel/caip.ts";
import { DEV_ACCOUNTS } from "./devAccounts.ts";
import { devSlug } from "./devConfig.ts";
import type { LocalChain } from "./chains/localChains.ts";
import type { DevSolana } from "./devSolana.ts";
import type { DevManifest, ManifestAccount, ManifestChain } from "./manifest.ts";

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
