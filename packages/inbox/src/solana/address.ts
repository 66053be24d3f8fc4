import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import type { Hex } from "../hex.ts";
import { bytes32 } from "./bytes.ts";
import { deriveAddress, deriveTokenAccount } from "./derive.ts";
import { hashSolanaTerms, kindSeeds } from "./terms.ts";
import type { SolanaTerms } from "./terms.ts";

/** The programs that decide an address. */
export type SolanaPrograms = {
  /** The inbox program; `findSolanaProgram` has the published one of each cluster. */
  readonly program: string;
  /** The token program that owns the mint. */
  readonly tokenProgram: string;
};

/** An inbox with everything that its instructions need. */
export type SolanaInbox = SolanaPrograms & {
  readonly terms: SolanaTerms;
  /** The address to show to a payer: it owns the token account. Nobody has a private key for it. */
  readonly address: string;
  readonly bump: number;
  readonly termsHash: Hex;
  /** The associated token account of the address for the pinned mint. */
  readonly tokenAccount: string;
};

/** Computes the inbox of these terms. Throws a RangeError that names the first invalid field. */
export function computeSolanaInbox(terms: SolanaTerms, programs: SolanaPrograms): SolanaInbox {
  const { program, tokenProgram } = programs;
  const termsHash = hashSolanaTerms(terms);
  const seeds = [utf8ToBytes(kindSeeds[terms.kind]), hexToBytes(termsHash.slice(2)), bytes32("salt", terms.salt)];
  const { address, bump } = deriveAddress(seeds, program);
  const { address: tokenAccount } = deriveTokenAccount(address, terms.mint, tokenProgram);
  return { terms, program, tokenProgram, address, bump, termsHash, tokenAccount };
}
