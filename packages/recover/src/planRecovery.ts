import type { Hex, Terms } from "@tributary/inbox/terms";

/** The native coin stands where a token's address would. */
export const NATIVE_TOKEN: Hex = `0x${"0".repeat(40)}`;

/** What can be done with one token of one inbox on one chain. */
export type RecoveryPlan =
  /** Anyone sends it; the money goes to the payout, less the fee. */
  | { readonly kind: "settle" }
  /** The recovery address sends it; the money goes where it says. */
  | { readonly kind: "rescue"; readonly sender: Hex; readonly allowedFromSeconds: number; readonly isAllowed: boolean }
  /** The inbox names no recovery address, and nothing but settling moves its money. */
  | { readonly kind: "none" };

export type TokenLocation = { readonly chainId: bigint; readonly timestamp: number; readonly token: Hex };

/** Which way out there is. It says what the hub's contract allows, and the contract has the last word. */
export function planRecovery(terms: Terms, { chainId, timestamp, token }: TokenLocation): RecoveryPlan {
  const isSettleChain = chainId === terms.settleChainId;
  if (isSettleChain && token === terms.settleToken) return { kind: "settle" };
  if (terms.recovery === NATIVE_TOKEN) return { kind: "none" };
  // What nobody will ever settle is rescued at once; elsewhere it might still be on its way to the payout.
  const allowedFromSeconds = isSettleChain ? 0 : terms.recoverAfter;
  return { kind: "rescue", sender: terms.recovery, allowedFromSeconds, isAllowed: timestamp >= allowedFromSeconds };
}

/** In case settling is impossible for good: from `recoverAfter` on, recovery may take the settle token too. */
export function planSettleTokenRescue(terms: Terms, timestamp: number): RecoveryPlan {
  if (terms.recovery === NATIVE_TOKEN) return { kind: "none" };
  return {
    kind: "rescue",
    sender: terms.recovery,
    allowedFromSeconds: terms.recoverAfter,
    isAllowed: timestamp >= terms.recoverAfter,
  };
}
