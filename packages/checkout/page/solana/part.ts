import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { verifySolanaInbox } from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import type { CheckoutInbox, CheckoutOrigins, CheckoutState } from "../../src/checkoutState.ts";
import type { AddressCheck } from "../../src/situation.ts";

// What the page needs for a payment on Solana alone: a file of its own, so that other payments do not load the curve.

export { payOnSolana } from "./payOnSolana.ts";
export { watchStandardWallets } from "./standardWallets.ts";

/**
 * Recomputes the payment's inbox on Solana from the terms. It catches a changed address, and terms of another coin than
 * the page names. What proves the payout itself is the merchant's own copy of this check.
 */
export function verifySolanaInboxes({ inboxes, terms }: CheckoutState, origins: CheckoutOrigins | null): AddressCheck {
  const payout = origins?.origins.find(({ isPayout }) => isPayout);
  const own = inboxes.find(({ isPayoutInbox }) => isPayoutInbox)?.address ?? "";
  const forged = inboxes.find(
    (inbox) =>
      inbox.namespace === "solana" &&
      !isGenuine(inbox, terms.solana, payout) &&
      !(terms.solanaRoutes ?? []).some((hop) => isHop(inbox, hop, own)),
  );
  if (forged === undefined) return { outcome: "ok" };
  return { outcome: "mismatch", expected: expectedAddress(terms.solana), received: forged.address };
}

function isGenuine(
  { address, reference }: CheckoutInbox,
  terms: SolanaInboxTerms | undefined,
  payout: { readonly tokenAddress: string } | undefined,
): boolean {
  if (terms?.kind !== "pay") return false;
  return verifySolanaInbox(terms, {
    kind: "pay",
    address,
    cluster: reference,
    // An operator may have deployed the program at an address of its own, which the page cannot know.
    program: terms.program,
    mint: payout?.tokenAddress ?? terms.mint,
    payoutWallet: terms.payout,
    feeBpsMax: terms.feeBps,
    recovery: terms.recovery,
  }).ok;
}

/** Whether it can only cross to the payment's own inbox. That one is verified on its own kind of chain. */
function isHop({ address, reference }: CheckoutInbox, terms: SolanaInboxTerms, inboxAddress: string): boolean {
  if (terms.kind !== "hop") return false;
  const { program, mint, domain, recovery } = terms;
  const feePpmMax = Math.max(...terms.routes.map((route) => route.feePpmMax));
  const stated = { program, mint, domain, recovery, feePpmMax, inboxAddress };
  return verifySolanaInbox(terms, { kind: "hop", address, cluster: reference, ...stated }).ok;
}

/** Empty where the terms themselves are missing or malformed. */
function expectedAddress(terms: SolanaInboxTerms | undefined): string {
  try {
    return terms === undefined ? "" : computeSolanaInbox(solanaTermsFromWire(terms), terms).address;
  } catch {
    return "";
  }
}
