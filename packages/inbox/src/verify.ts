import { computeInboxAddress } from "./address.ts";
import { parseAddress } from "./checksum.ts";
import { hubAddress, implementationAddress, inboxVersion } from "./hub.generated.ts";
import { zeroAddress, zeroBytes32 } from "./hex.ts";
import { computeInboxSalt } from "./salt.ts";
import { termsFromWire } from "./wire.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";
import type { InboxTerms } from "./wire.ts";

/** What the reader knows from elsewhere: from their own settings, never from the answer that is being verified. */
export type ExpectedInbox = {
  /** The address that was shown or given to the payer. */
  readonly inboxAddress: string;
  /** Where the money must end. */
  readonly payoutWallet: string;
  /** The token that must be paid out. */
  readonly token: string;
  /** EIP-155 id of the chain of the payout. */
  readonly chainId: bigint | number;
  /** The fee that was agreed, in hundredths of a percent. A lower one passes. */
  readonly feeBpsMax: number;
  /** When given, the only address that may receive the fee. */
  readonly feeRecipient?: string;
  /** The account's own recovery address. Without it only the payout wallet, or nobody, may recover. */
  readonly recovery?: string;
  /** Root of the routes that were agreed. Without it the inbox must have none. */
  readonly routesRoot?: Hex;
  /** When given, the inbox must belong to this very intent. */
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
 * Recomputes the inbox address from its terms and compares the terms with what the reader expects. Needs no network:
 * when it answers ok, money at that address can only reach the expected payout wallet, less at most the agreed fee.
 */
export function verifyInbox(inboxTerms: InboxTerms, expected: ExpectedInbox): Verification {
  const terms = tryParseTerms(inboxTerms);
  if (terms === undefined) return { ok: false, reason: "malformed_terms" };
  const reason = checkContracts(inboxTerms) ?? checkPayout(terms, expected) ?? checkCommitments(terms, expected);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

function tryParseTerms(inboxTerms: InboxTerms): Terms | undefined {
  try {
    return termsFromWire(inboxTerms);
  } catch {
    return undefined;
  }
}

/** Only the published contracts are trusted: terms that name others say nothing about where money may go. */
function checkContracts(inboxTerms: InboxTerms): VerifyReason | undefined {
  if (inboxTerms.version !== inboxVersion) return "unknown_version";
  const isKnownHub =
    parseAddress(inboxTerms.hub) === hubAddress && parseAddress(inboxTerms.implementation) === implementationAddress;
  return isKnownHub ? undefined : "wrong_hub";
}

function checkPayout(terms: Terms, expected: ExpectedInbox): VerifyReason | undefined {
  const address = parseAddress(expected.inboxAddress);
  const payout = parseAddress(expected.payoutWallet);
  const token = parseAddress(expected.token);
  const isChainIdValid = typeof expected.chainId === "bigint" || Number.isSafeInteger(expected.chainId);
  if (address === undefined || payout === undefined || token === undefined || !isChainIdValid)
    return "malformed_expectation";
  if (computeInboxAddress(terms) !== address) return "wrong_address";
  if (terms.payout !== payout) return "wrong_payout";
  if (terms.settleToken !== token) return "wrong_token";
  if (terms.settleChainId !== BigInt(expected.chainId)) return "wrong_chain";
  // Asked this way round, a limit that is no number lets nothing pass.
  return terms.feeBps <= expected.feeBpsMax ? undefined : "fee_too_high";
}

/** The terms by which somebody other than the payout wallet could ever come to the money. */
function checkCommitments(terms: Terms, expected: ExpectedInbox): VerifyReason | undefined {
  if (expected.feeRecipient !== undefined && terms.feeRecipient !== parseAddress(expected.feeRecipient)) {
    return "wrong_fee_recipient";
  }
  const recoveries = [zeroAddress, terms.payout, parseAddress(expected.recovery)];
  if (!recoveries.includes(terms.recovery)) return "wrong_recovery";
  if (terms.routesRoot !== (expected.routesRoot ?? zeroBytes32).toLowerCase()) return "wrong_routes";
  if (expected.intent === undefined) return undefined;
  return terms.salt === computeInboxSalt(expected.intent.deploymentId, expected.intent.intentId)
    ? undefined
    : "wrong_intent";
}
