import type { Caip2 } from "../kernel/caip.ts";

/** What the manifest says about a chain. */
export type ManifestChain = {
  caip2: Caip2;
  chainId: number;
  slug: string;
  name: string;
  rpcUrl: string;
  tokens: { symbol: string; address: string; decimals: number }[];
};

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

/** Whether the run file of a process has a manifest: only the dev world's has one. */
export function isDevManifest(value: unknown): value is DevManifest {
  const fields = ["baseUrl", "accounts", "chains", "payer", "solana"];
  return typeof value === "object" && value !== null && fields.every((field) => Object.hasOwn(value, field));
}
