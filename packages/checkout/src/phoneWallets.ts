/** A wallet app that can open a page in its own browser. `link` takes the page's absolute URL. */
export type PhoneWallet = {
  readonly name: string;
  readonly namespaces: readonly ("eip155" | "solana")[];
  readonly link: (url: string) => string;
};

const encode = encodeURIComponent;

/**
 * The universal links that each app publishes. MetaMask takes the page's address as a path, not encoded; the others as
 * a parameter.
 */
const PHONE_WALLETS: readonly PhoneWallet[] = [
  {
    name: "MetaMask",
    namespaces: ["eip155"],
    link: (url) => `https://link.metamask.io/dapp/${url.replace(/^https?:\/\//, "")}`,
  },
  {
    name: "Phantom",
    namespaces: ["eip155", "solana"],
    link: (url) => `https://phantom.app/ul/browse/${encode(url)}?ref=${encode(new URL(url).origin)}`,
  },
  {
    name: "Coinbase Wallet",
    namespaces: ["eip155"],
    link: (url) => `https://go.cb-w.com/dapp?cb_url=${encode(url)}`,
  },
  {
    name: "Solflare",
    namespaces: ["solana"],
    link: (url) => `https://solflare.com/ul/v1/browse/${encode(url)}?ref=${encode(new URL(url).origin)}`,
  },
  {
    name: "Trust",
    namespaces: ["eip155"],
    link: (url) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encode(url)}`,
  },
  {
    name: "Trust",
    namespaces: ["solana"],
    link: (url) => `https://link.trustwallet.com/open_url?coin_id=501&url=${encode(url)}`,
  },
];

export function phoneWalletsFor(namespace: "eip155" | "solana"): PhoneWallet[] {
  return PHONE_WALLETS.filter(({ namespaces }) => namespaces.includes(namespace));
}
