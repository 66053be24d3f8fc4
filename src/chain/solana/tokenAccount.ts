import { deriveTokenAccount } from "@tributary/inbox/solana/derive";

export type TokenAccountKey = { owner: string; mint: string; tokenProgram: string };

/**
 * A derivation takes about 0.07 milliseconds, and lists and inboxes in view ask for the same ones again. An entry takes
 * about 250 bytes.
 */
const known = new Map<string, string>();
const KNOWN_MAX = 20_000;

/** The one token account of an owner and a mint that counts, and that wallets look for. */
export function findTokenAccount({ owner, mint, tokenProgram }: TokenAccountKey): string {
  const key = `${owner}/${mint}/${tokenProgram}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const { address } = deriveTokenAccount(owner, mint, tokenProgram);
  const [oldest = ""] = known.size >= KNOWN_MAX ? known.keys() : [];
  known.delete(oldest);
  known.set(key, address);
  return address;
}
