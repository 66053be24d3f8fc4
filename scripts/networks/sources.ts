import { ISSUER } from "./issuer.ts";

// Where each field of the catalogue comes from, and when it was read.

export type Source = { title: string; url?: string; date: string };

const READ = "2026-11-28";

export const SOURCES = {
  issuer: { title: `${ISSUER.package} ${ISSUER.version} (${ISSUER.license})`, date: READ },
  viem: { title: "viem 2.57.0, its chains and tokens (MIT)", date: READ },
  times: {
    title: "Circle, finality and block confirmations, a stored copy",
    url: "https://developers.circle.com/cctp/concepts/finality-and-block-confirmations",
    date: READ,
  },
  fees: {
    title: "Circle, CCTP fees, a stored copy",
    url: "https://developers.circle.com/cctp/concepts/fees",
    date: READ,
  },
  policy: { title: "a choice of this project: docs/operate/chains.md", date: READ },
  usual: { title: "rough prices of gas and coins, as this project assumes them", date: "2026-11-25" },
  denim: { title: "Base, Denim upgrade", url: "https://docs.chainstack.com/docs/base-denim-200ms-blocks", date: READ },
  fermi: { title: "BNB Chain, Fermi upgrade", url: "https://docs.bnbchain.org/announce/fermi-bsc", date: READ },
  helicon: {
    title: "Avalanche, Helicon upgrade",
    url: "https://docs.chainstack.com/docs/avalanche-helicon-upgrade",
    date: READ,
  },
  clusters: { title: "Solana, clusters", url: "https://solana.com/docs/references/clusters", date: READ },
  eip7825: { title: "EIP-7825, a transaction's gas limit", url: "https://eips.ethereum.org/EIPS/eip-7825", date: READ },
  glamsterdam: {
    title: "Ethereum Foundation, Glamsterdam testnet announcement",
    url: "https://blog.ethereum.org/en/2026/09/17/glamsterdam-testnet-announcement",
    date: READ,
  },
  hoodi: {
    title: "Ethereum Foundation, Glamsterdam on Hoodi postponed",
    url: "https://blog.ethereum.org/2026/10/22/glamsterdam-hoodi-delay",
    date: READ,
  },
  list: { title: "ethereum-lists/chains, a stored copy", url: "https://github.com/ethereum-lists/chains", date: READ },
  chainlist: {
    title: "DefiLlama/chainlist at 0962062964d3, a stored copy",
    url: "https://github.com/DefiLlama/chainlist",
    date: READ,
  },
  onfinality: {
    title: "OnFinality, public nodes of Solana, a stored copy",
    url: "https://dev.to/onfinality/solana-rpc-endpoint-mainnet-devnet-provider-setup-c9o",
    date: READ,
  },
  usdt: {
    title: "ZeroDev, supported tokens, a stored copy",
    url: "https://docs.zerodev.app/onramp/smart-routing-address/supported-chains",
    date: READ,
  },
} as const satisfies Record<string, Source>;

export type SourceKey = keyof typeof SOURCES;
