import type { Hex, Terms } from "@tributary/inbox/terms";

/** The native coin stands where a token's address would. */
export const NATIVE: Hex = `0x${"0".repeat(40)}`;

/** What can be done with one token of one inbox on one chain. */
export type Way =
  /** Anyone sends it; the money goes to the payout, less the fee. */
  | { readonly kind: "settle" }
  /** The recovery address sends it; the money goes where it says. */
  | { readonly kind: "rescue"; readonly by: Hex; readonly fromSeconds: number; readonly isDue: boolean }
  /** The inbox names no recovery address, and nothing but settling moves its money. */
  | { readonly kind: "none" };

export type Place = { readonly chainId: bigint; readonly timestamp: number; readonly token: Hex };

/** Which way out there is. It says what the hub's contract allows, and the contract has the last word. */
export function wayOut(terms: Terms, { chainId, timestamp, token }: Place): Way {
  const isHome = chainId === terms.settleChainId;
  if (isHome && token === terms.settleToken) return { kind: "settle" };
  if (terms.recovery === NATIVE) return { kind: "none" };
  // What nobody will ever settle is rescued at once; elsewhere it might still be on its way to the payout.
  const fromSeconds = isHome ? 0 : terms.recoverAfter;
  return { kind: "rescue", by: terms.recovery, fromSeconds, isDue: timestamp >= fromSeconds };
}

/** In case settling is impossible for good: from `recoverAfter` on, recovery may take the settle token too. */
export function lastResort(terms: Terms, timestamp: number): Way {
  if (terms.recovery === NATIVE) return { kind: "none" };
  return {
    kind: "rescue",
    by: terms.recovery,
    fromSeconds: terms.recoverAfter,
    isDue: timestamp >= terms.recoverAfter,
  };
}
