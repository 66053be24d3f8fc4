import { isOnCurve, decodeSolanaAddress } from "../kernel/solanaAddress.ts";

// Which addresses on Solana can be a merchant's wallet, as far as the address alone tells. A token account that lies on the curve, because
// somebody made it with a key of its own, can only be recognised by asking the chain.

/** Programs and mints of the chain whose names do not end as those of its own do. */
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
  "So11111111111111111111111111111111111111112",
]);
/** The chain's own programs and variables, and the place where tokens are burnt, have names that are filled up with ones. */
const PADDED_WITH_ONES = /1{8}$/;

/** Why an address is no wallet: it is malformed, or one from which nobody could take what is paid there. Undefined when it may be one. */
export function findSolanaWalletProblem(
  text: string,
  mints: ReadonlySet<string>,
): "malformed" | "unpayable" | undefined {
  const bytes = decodeSolanaAddress(text);
  if (bytes === undefined) return "malformed";
  if (mints.has(text) || isSolanaProgram(text)) return "unpayable";
  return isOnCurve(bytes) ? undefined : "unpayable";
}

/** Whether an address is a program's or variable of the chain, its own mint, or the place where tokens are burnt. */
export function isSolanaProgram(address: string): boolean {
  return KNOWN_PROGRAMS.has(address) || PADDED_WITH_ONES.test(address);
}
