import { computeInboxAddress } from "./address.ts";
import { parseAddress } from "./checksum.ts";
import { feeBpsMax as hubFeeBpsMax, findHub, hubs, type Hub } from "./hubs.ts";
import { zeroAddress } from "./hex.ts";
import type { SolanaInboxTerms } from "./solana/wire.ts";
import { computeInboxSalt } from "./salt.ts";
import { hubFromWire, termsFromWire } from "./wire.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";
import { verifyRoutes, type ExpectedBridges } from "./verifyRoutes.ts";
import type { InboxTerms } from "./wire.ts";

/**
 * The verifier's own expectations. They must come from its own settings, never from the response under verification.
 */
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
  /**
   * The account's own recovery address. With it, the terms must name this address or the payout wallet: terms without a
   * recovery address are refused. Without it, they must name the payout wallet or none. For a payout on Solana it is
   * the address that the account named for EVM chains.
   */
  readonly recovery?: string;
  /**
   * The root of the agreed routes. Without it, the inbox must have no routes, or published ones that pass
   * `verifyRoutes`.
   */
  readonly routesRoot?: Hex;
  /** Settings for the published routes. */
  readonly bridges?: ExpectedBridges;
  /**
   * For a payout on Solana: `expectSolanaPayout(…)` of `@tributary/inbox/solana/verify`. Every route must then bridge
   * to the token account of that inbox. `chainId` is 0, and `payoutWallet` and `token` are the zero address.
   */
  readonly solana?: (inboxTerms: SolanaInboxTerms) => Hex | undefined;
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
  | "wrong_solana_inbox"
  | "wrong_intent";

export type Verification = { readonly ok: true } | { readonly ok: false; readonly reason: VerifyReason };

/**
 * Recomputes the inbox address from its terms and compares the terms with the expectations. It needs no network. When
 * the result is ok, tokens at that address can only reach the expected payout wallet, less at most the agreed fee.
 */
export function verifyInbox(inboxTerms: InboxTerms, expected: ExpectedInbox): Verification {
  const terms = tryParseTerms(inboxTerms);
  if (terms === undefined) return { ok: false, reason: "malformed_terms" };
  // Only the published contracts are trusted: the terms of other contracts prove nothing about the payout.
  const hub = hubFromWire(inboxTerms);
  if (hub === undefined) return { ok: false, reason: explainHub(inboxTerms) };
  const reason =
    checkPayout(terms, hub, expected) ??
    checkCommitments(terms, expected) ??
    checkSolanaInbox(terms, inboxTerms, expected) ??
    checkRoutes(terms, inboxTerms, expected) ??
    checkIntent(terms, expected);
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
  const isRecoveryValid = expected.recovery === undefined || parseAddress(expected.recovery) !== undefined;
  if (address === undefined || payout === undefined || token === undefined || !isChainIdValid || !isRecoveryValid)
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
  // Whoever expects a recovery address relies on it: terms without one would leave money on other chains where it is.
  const own = expected.recovery === undefined ? zeroAddress : parseAddress(expected.recovery);
  const recoveries = [terms.payout, own];
  return recoveries.includes(terms.recovery) ? undefined : "wrong_recovery";
}

/** Checks the inbox on Solana to which the routes of a payout there bridge. It must belong to the same intent. */
function checkSolanaInbox(terms: Terms, wire: InboxTerms, expected: ExpectedInbox): VerifyReason | undefined {
  if (expected.solana === undefined) return undefined;
  // On another chain the hub would pay the terms' own payout, and nothing on Solana.
  const isOwn = terms.settleChainId === 0n && String(wire.solana?.salt).toLowerCase() === terms.salt;
  return isOwn && recipientOnSolana(wire, expected) !== undefined ? undefined : "wrong_solana_inbox";
}

/** The token account of the inbox on Solana, when that inbox is as expected. */
function recipientOnSolana({ solana }: InboxTerms, expected: ExpectedInbox): Hex | undefined {
  return solana === undefined ? undefined : expected.solana?.(solana);
}

/** Checks the routes over which money could leave the inbox on another chain. */
function checkRoutes(terms: Terms, wire: InboxTerms, expected: ExpectedInbox): VerifyReason | undefined {
  const { routes } = wire;
  const { routesRoot, settleChainId, settleToken } = terms;
  if (expected.routesRoot !== undefined)
    return routesRoot === expected.routesRoot.toLowerCase() ? undefined : "wrong_routes";
  const recipient = recipientOnSolana(wire, expected);
  const bridges = { ...expected.bridges, ...(recipient === undefined ? {} : { recipient }) };
  const verified = verifyRoutes(routes, { ...bridges, routesRoot, settleChainId, settleToken });
  return verified.ok ? undefined : "wrong_routes";
}

function checkIntent(terms: Terms, expected: ExpectedInbox): VerifyReason | undefined {
  if (expected.intent === undefined) return undefined;
  return terms.salt === computeInboxSalt(expected.intent.deploymentId, expected.intent.intentId)
    ? undefined
    : "wrong_intent";
}
