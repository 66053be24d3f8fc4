import type { Hex, Terms } from "@tributary/inbox/terms";

/** The native coin, in place of a token address. */
export const NATIVE_TOKEN: Hex = `0x${"0".repeat(40)}`;

/** The possible recovery of one token of one inbox on one chain. */
export type RecoveryPlan =
  /** Anyone may send it. The balance goes to the payout, less the fee. */
  | { readonly kind: "settle" }
  /** Only the recovery address may send it. It chooses the recipient. */
  | { readonly kind: "rescue"; readonly sender: Hex; readonly allowedFromSeconds: number; readonly isAllowed: boolean }
  /** The inbox has no recovery address, so only settling moves its funds. */
  | { readonly kind: "none" };

export type TokenLocation = { readonly chainId: bigint; readonly timestamp: number; readonly token: Hex };

/** Determines how a token can leave its inbox. It mirrors the hub's contract, which decides in the end. */
export function planRecovery(terms: Terms, { chainId, timestamp, token }: TokenLocation): RecoveryPlan {
  const isSettleChain = chainId === terms.settleChainId;
  if (isSettleChain && token === terms.settleToken) return { kind: "settle" };
  if (terms.recovery === NATIVE_TOKEN) return { kind: "none" };
  // A token that is never settled can be rescued at once. The settle token may still be on its way to the payout.
  const allowedFromSeconds = isSettleChain ? 0 : terms.recoverAfter;
  return { kind: "rescue", sender: terms.recovery, allowedFromSeconds, isAllowed: timestamp >= allowedFromSeconds };
}

/**
 * Where a rescue goes unless the sender names another receiver: the payout wallet on its own chain. On other chains it
 * may not exist, as a contract, and nobody could move what arrives there, so the sender itself receives. So does it the
 * payout token: that is rescued where the payout wallet cannot receive it.
 */
export function defaultReceiver(
  terms: Terms,
  { chainId, sender, token }: { chainId: bigint; sender: Hex; token: Hex },
): Hex {
  const isPayable = chainId === terms.settleChainId && token !== terms.settleToken;
  return isPayable && terms.payout !== NATIVE_TOKEN ? terms.payout : sender;
}

/**
 * The fallback when settling is permanently impossible: from `recoverAfter` on, recovery may take the settle token too.
 */
export function planSettleTokenRescue(terms: Terms, timestamp: number): RecoveryPlan {
  if (terms.recovery === NATIVE_TOKEN) return { kind: "none" };
  return {
    kind: "rescue",
    sender: terms.recovery,
    allowedFromSeconds: terms.recoverAfter,
    isAllowed: timestamp >= terms.recoverAfter,
  };
}
