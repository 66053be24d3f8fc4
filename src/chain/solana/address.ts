import { isOnCurve } from "@tributary/inbox/solana/curve";
import { parseKey } from "@tributary/inbox/solana/keys";
import type { AddressFormat } from "../addressFormat.ts";
import { AddressFingerprints } from "./addressFingerprints.ts";

// Checks whether a Solana address can be a merchant's wallet, as far as the address alone shows. A token account on the
// curve, created with its own key pair, can only be recognised by asking the chain.

/** Programs and mints of the chain whose addresses lack the padding below. */
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
  "So11111111111111111111111111111111111111112",
]);
/** As many letters of base58 as 32 bytes have, and not a part of a longer text. */
const IN_TEXT = /(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{32,44}(?![1-9A-HJ-NP-Za-km-z])/g;
/** Addresses of native programs, sysvars and the incinerator end in ones as padding. */
const PADDED_WITH_ONES = /1{8}$/;

/**
 * Why an address cannot be a wallet: it is malformed, or its funds could never be moved. Undefined when it may be a
 * wallet.
 */
export function findSolanaWalletProblem(
  text: string,
  mints: ReadonlySet<string>,
): "malformed" | "unpayable" | undefined {
  const bytes = parseKey(text);
  if (bytes === undefined) return "malformed";
  if (mints.has(text) || isSolanaProgram(text)) return "unpayable";
  return isOnCurve(bytes) ? undefined : "unpayable";
}

/** Whether an address is a native program, a sysvar, a well-known program or mint, or the incinerator. */
function isSolanaProgram(address: string): boolean {
  return KNOWN_PROGRAMS.has(address) || PADDED_WITH_ONES.test(address);
}

/** Addresses on Solana: the base58 of 32 bytes, which has one spelling. */
export const solanaAddresses: AddressFormat = {
  expected: "the base58 of 32 bytes on Solana",
  expectedWallet: "a Solana wallet: base58 of 32 bytes, and not the address of a program or a token account",
  parse: (text) => (parseKey(text) === undefined ? undefined : text),
  parseWallet(text, tokens) {
    const problem = findSolanaWalletProblem(text, tokens);
    if (problem === undefined) return { address: text };
    if (problem === "malformed") return { problem };
    const reason =
      "This address is no wallet: it is a program's, a mint, or a token account or other derived address, which no key signs for.";
    return { problem, reason };
  },
  isContract: (address, tokens) => tokens.has(address) || isSolanaProgram(address),
  createMatcher: () => new AddressFingerprints(),
  *findIn(text) {
    for (const [address] of text.matchAll(IN_TEXT)) yield address;
  },
};
