import { tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaChainConfig } from "../../src/config/config.ts";

// A watched Solana cluster as a configuration has it. Nothing answers at its URLs.

export const CLUSTER = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
export const MINT = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
export const OTHER_MINT = "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr";
export const SOLANA_WALLET = "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj";
export const SOLANA_PROGRAM = "9YRPoBKvXEzUprWJ3NzvxaRiQSTEBdG9UEAZyhsoGrtq";
export const SOLANA_FEE_PAYER = "FcjfSXfyM9aeHLkuxmqCS77BARyGwkur3f4ThjmsJb1v";
export const SOLANA_FEE_WALLET = "3eAkPrW1fWERJjxWb2gxCNVLMNC4UC5XfJnLQBqb4idw";

const token = { decimals: 6, minimumUnits: 10_000n, isOrigin: true, isRail: true, tokenProgram };

/** Devnet with two mints. */
export const SOLANA_CHAIN_CONFIG: SolanaChainConfig = {
  caip2: `solana:${CLUSTER}`,
  chainId: 103,
  name: "Solana Devnet",
  slug: "solana-devnet",
  rpcUrls: ["http://127.0.0.1:1"],
  publicRpcUrl: "https://api.devnet.solana.com",
  explorerUrl: "https://explorer.solana.com",
  native: { name: "Solana", symbol: "SOL", decimals: 9 },
  pollMs: 1_000,
  finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
  settleAfterMs: 0,
  settleBatchMax: 8,
  tokens: [
    { ...token, symbol: "USDC", slug: "usdc", address: MINT },
    { ...token, symbol: "EURC", slug: "eurc", address: OTHER_MINT },
  ],
  defaultToken: "USDC",
  gate: "local",
  program: SOLANA_PROGRAM,
  feePayer: SOLANA_FEE_PAYER,
  feePayerKey: "",
  feeRecipient: SOLANA_FEE_WALLET,
  computeUnitPriceMax: 1_000_000n,
};
