import { verifyInbox } from "@tributary/inbox/verify";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import type { InboxTerms } from "@tributary/inbox/wire";

export type ShownPayment = {
  /** CAIP-2 reference of the payout's chain. */
  readonly cluster: string;
  readonly inboxAddress: string;
  readonly payoutWallet: string;
  readonly terms: InboxTerms;
};

export type CheckOutcome =
  | { readonly outcome: "matches"; readonly feeBps: number }
  | { readonly outcome: "differs" | "otherPayout" | "unknown" };

/**
 * Computes a payment's address again from its terms, with the published contracts alone, and compares it and the wallet
 * that it pays with what the page shows.
 */
export function checkInbox(shown: ShownPayment): CheckOutcome {
  return shown.inboxAddress.startsWith("0x") ? checkOnEvm(shown) : checkOnSolana(shown);
}

function checkOnEvm({ inboxAddress, payoutWallet, terms }: ShownPayment): CheckOutcome {
  const verified = verifyInbox(terms, {
    inboxAddress,
    payoutWallet,
    token: terms.settleToken,
    chainId: BigInt(terms.settleChainId),
    feeBpsMax: terms.feeBps,
    recovery: terms.recovery,
    // Which routes an account agreed to, its own copy of this check knows.
    routesRoot: terms.routesRoot as `0x${string}`,
  });
  if (verified.ok) return { outcome: "matches", feeBps: terms.feeBps };
  if (verified.reason === "wrong_payout") return { outcome: "otherPayout" };
  return { outcome: verified.reason === "unknown_version" || verified.reason === "wrong_hub" ? "unknown" : "differs" };
}

function checkOnSolana({ inboxAddress, payoutWallet, cluster, terms: { solana } }: ShownPayment): CheckOutcome {
  if (solana === undefined || solana.kind !== "pay") return { outcome: "unknown" };
  try {
    if (computeSolanaInbox(solanaTermsFromWire(solana), solana).address !== inboxAddress) return { outcome: "differs" };
  } catch {
    return { outcome: "differs" };
  }
  if (solana.payout !== payoutWallet) return { outcome: "otherPayout" };
  // Another program could do something else with the same terms.
  const isPublished = findSolanaProgram(cluster) === solana.program;
  return isPublished ? { outcome: "matches", feeBps: solana.feeBps } : { outcome: "unknown" };
}
