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
