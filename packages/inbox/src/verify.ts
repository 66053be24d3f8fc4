import { computeInboxAddress } from "./address.ts";
import { parseAddress } from "./checksum.ts";
import { feeBpsMax as hubFeeBpsMax, findHub, hubs, type Hub } from "./hubs.ts";
import { zeroAddress, zeroBytes32 } from "./hex.ts";
import { computeInboxSalt } from "./salt.ts";
import { hubFromWire, termsFromWire } from "./wire.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";
import type { InboxTerms } from "./wire.ts";

/** The verifier's own expectations. They must come from its own settings, never from the response under verification. */
export type ExpectedInbox = {
  /** The address shown to the payer. */
  readonly inboxAddress: string;
  /** The payout wallet. */
  readonly payoutWallet: string;
  /** The payout token. */
  readonly token: string;
  /** EIP-155 id of the payout's chain. */
  readonly chainId: bigint | number;
  /** The agreed fee in basis points. A lower fee passes. Above 1,000 the hub settles nothing, so no inbox passes. */
  readonly feeBpsMax: number;
  /** If given, the only permitted fee recipient. */
  readonly feeRecipient?: string;
  /** The account's own recovery address. Without it, recovery must be the payout wallet or none. */
  readonly recovery?: string;
  /** The root of the agreed routes. Without it, the inbox must have no routes. */
  readonly routesRoot?: Hex;
  /** If given, the inbox must belong to this intent. */
  readonly intent?: { readonly deploymentId: Hex; readonly intentId: string };
};

export type VerifyReason =
  | "malformed_terms"
  | "malformed_expectation"
  | "unknown_version"
  | "wrong_hub"
  | "wrong_address"
  | "wrong_payout"
  | "wrong_token"
  | "wrong_chain"
  | "fee_too_high"
  | "wrong_fee_recipient"
  | "wrong_recovery"
  | "wrong_routes"
  | "wrong_intent";

export type Verification = { readonly ok: true } | { readonly ok: false; readonly reason: VerifyReason };

/**
 * Recomputes the inbox address from its terms and compares the terms with the expectations. It needs no network. When the result is ok,
 * tokens at that address can only reach the expected payout wallet, less at most the agreed fee.
 */
export function verifyInbox(inboxTerms: InboxTerms, expected: ExpectedInbox): Verification {
  const terms = tryParseTerms(inboxTerms);
  if (terms === undefined) return { ok: false, reason: "malformed_terms" };
  // Only the published contracts are trusted: the terms of other contracts prove nothing about the payout.
  const hub = hubFromWire(inboxTerms);
  if (hub === undefined) return { ok: false, reason: explainHub(inboxTerms) };
  const reason = checkPayout(terms, hub, expected) ?? checkCommitments(terms, expected);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

function tryParseTerms(inboxTerms: InboxTerms): Terms | undefined {
  try {
    return termsFromWire(inboxTerms);
  } catch {
    return undefined;
  }
}

function explainHub(inboxTerms: InboxTerms): VerifyReason {
  return hubs.some(({ version }) => version === inboxTerms.version) ? "wrong_hub" : "unknown_version";
}

function checkPayout(terms: Terms, hub: Hub, expected: ExpectedInbox): VerifyReason | undefined {
  const address = parseAddress(expected.inboxAddress);
  const payout = parseAddress(expected.payoutWallet);
  const token = parseAddress(expected.token);
  const isChainIdValid = typeof expected.chainId === "bigint" || Number.isSafeInteger(expected.chainId);
  if (address === undefined || payout === undefined || token === undefined || !isChainIdValid)
    return "malformed_expectation";
  if (computeInboxAddress(terms, hub) !== address) return "wrong_address";
  if (terms.payout !== payout) return "wrong_payout";
  if (terms.settleToken !== token) return "wrong_token";
  if (terms.settleChainId !== BigInt(expected.chainId)) return "wrong_chain";
  // Written so that a limit that is not a number accepts nothing.
  return terms.feeBps <= expected.feeBpsMax && terms.feeBps <= hubFeeBpsMax ? undefined : "fee_too_high";
}

/** Checks the terms by which a party other than the payout wallet could receive funds. */
function checkCommitments(terms: Terms, expected: ExpectedInbox): VerifyReason | undefined {
  if (expected.feeRecipient !== undefined && terms.feeRecipient !== parseAddress(expected.feeRecipient)) {
    return "wrong_fee_recipient";
  }
  // A fee that a hub receives is lost.
  if (terms.feeBps > 0 && findHub(terms.feeRecipient) !== undefined) return "wrong_fee_recipient";
  const recoveries = [zeroAddress, terms.payout, parseAddress(expected.recovery)];
  if (!recoveries.includes(terms.recovery)) return "wrong_recovery";
  if (terms.routesRoot !== (expected.routesRoot ?? zeroBytes32).toLowerCase()) return "wrong_routes";
  if (expected.intent === undefined) return undefined;
  return terms.salt === computeInboxSalt(expected.intent.deploymentId, expected.intent.intentId)
    ? undefined
    : "wrong_intent";
}
