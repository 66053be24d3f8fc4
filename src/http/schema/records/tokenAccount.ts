import type { Properties } from "../jsonSchema.ts";

export const solanaKey = { type: "string", description: "Base58 of 32 bytes." } as const;

/** What an inbox on Solana has beside its address. */
export const tokenAccountProperties = {
  tokenAccount: { ...solanaKey, description: "Solana alone: the token account of the address, where deposits arrive." },
  mint: { ...solanaKey, description: "Solana alone: the token that the inbox takes." },
  program: { ...solanaKey, description: "Solana alone: the inbox program." },
} as const satisfies Properties;
