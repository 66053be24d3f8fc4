import { bytesToHex } from "@noble/hashes/utils";
import { parseAddress } from "../checksum.ts";
import type { Hex } from "../hex.ts";
import { computeInboxSalt } from "../salt.ts";
import { computeSolanaInbox } from "./address.ts";
import type { SolanaInbox } from "./address.ts";
import { cctpMessenger } from "./cctp.ts";
import { decodeKey, noKey, parseKey, token2022Program, tokenProgram } from "./keys.ts";
import { findSolanaProgram } from "./program.generated.ts";
import type { SolanaHopTerms, SolanaPayTerms } from "./terms.ts";
import { solanaInboxVersion, solanaTermsFromWire } from "./wire.ts";
import type { SolanaInboxTerms } from "./wire.ts";

type ExpectedSolanaInbox = {
  /** The address shown to the payer. */
  readonly address: string;
  /** The token account shown beside it, if one is. */
  readonly tokenAccount?: string;
  /** CAIP-2 reference of the cluster: the first 32 characters of its genesis hash. */
  readonly cluster: string;
  /** The inbox program, only for a cluster without a published one, or for a program of one's own. */
  readonly program?: string;
  /** The mint of the deposits. */
  readonly mint: string;
  /**
   * The account's own recovery key. With it, the terms must name this key or the payout wallet: terms without a
   * recovery key are refused. Without it, they must name the payout wallet or none.
   */
  readonly recovery?: string;
  /** If given, the inbox must belong to this intent. */
  readonly intent?: { readonly deploymentId: Hex; readonly intentId: string };
};

/** For a payout on Solana. */
export type ExpectedSolanaPayout = ExpectedSolanaInbox & {
  readonly kind: "pay";
  readonly payoutWallet: string;
  /** The agreed fee in basis points. A lower fee passes. */
  readonly feeBpsMax: number;
  /** If given, the only permitted token account of the fee. */
  readonly feeAccount?: string;
};

/** For a payout on an EVM chain: verify that chain's inbox with `verifyInbox` first. */
export type ExpectedSolanaHop = ExpectedSolanaInbox & {
  readonly kind: "hop";
  /** The intent's inbox on the EVM chain. */
  readonly inboxAddress: string;
  /** Circle's domain number of that chain. */
  readonly domain: number;
  /** The highest agreed fee of the bridge, in millionths of the amount. */
  readonly feePpmMax: number;
};

export type SolanaVerifyReason =
  | "malformed_terms"
  | "malformed_expectation"
  | "unknown_version"
  | "wrong_program"
  | "wrong_address"
  | "wrong_token_account"
  | "wrong_kind"
  | "wrong_token"
  | "wrong_payout"
  | "wrong_chain"
  | "fee_too_high"
  | "wrong_fee_recipient"
  | "wrong_bridge"
  | "wrong_recovery"
  | "wrong_intent";

export type SolanaVerification = { readonly ok: true } | { readonly ok: false; readonly reason: SolanaVerifyReason };

/**
 * Recomputes a Solana inbox from its terms and compares the terms with the expectations. It needs no network. When the
 * result is ok, tokens of the mint at that address can only reach the expected payout wallet, or inbox on the other
 * chain, less at most the agreed fee.
 */
export function verifySolanaInbox(
  inboxTerms: SolanaInboxTerms,
  expected: ExpectedSolanaPayout | ExpectedSolanaHop,
): SolanaVerification {
  const inbox = tryCompute(inboxTerms);
  if (inbox === undefined) return { ok: false, reason: "malformed_terms" };
  const reason =
    checkExpectation(expected) ??
    checkProgram(inboxTerms, expected) ??
    checkAddress(inbox, expected) ??
    checkKind(inbox, expected) ??
    checkCommitments(inbox, expected);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

/**
 * What `verifyInbox` expects of `inboxTerms.solana`, for a payout on Solana. The result returns the 32 bytes of the
 * inbox's token account when the terms pass. A function, so that pages that verify no such payout do not load the
 * curve.
 */
export function expectSolanaPayout(expected: ExpectedSolanaPayout): (inboxTerms: SolanaInboxTerms) => Hex | undefined {
  return (inboxTerms) => {
    const inbox = verifySolanaInbox(inboxTerms, expected).ok ? tryCompute(inboxTerms) : undefined;
    return inbox === undefined ? undefined : `0x${bytesToHex(decodeKey("tokenAccount", inbox.tokenAccount))}`;
  };
}

function tryCompute(wire: SolanaInboxTerms): SolanaInbox | undefined {
  try {
    if (wire.tokenProgram !== tokenProgram && wire.tokenProgram !== token2022Program) return undefined;
    return computeSolanaInbox(solanaTermsFromWire(wire), { program: wire.program, tokenProgram: wire.tokenProgram });
  } catch {
    return undefined;
  }
}

function checkExpectation(expected: ExpectedSolanaPayout | ExpectedSolanaHop): SolanaVerifyReason | undefined {
  const keys = [expected.address, expected.mint, ...(expected.kind === "pay" ? [expected.payoutWallet] : [])];
  const isValid =
    keys.every((key) => parseKey(key) !== undefined) &&
    (expected.recovery === undefined || parseKey(expected.recovery) !== undefined) &&
    (expected.kind === "pay" ||
      (parseAddress(expected.inboxAddress) !== undefined && Number.isSafeInteger(expected.domain)));
  return isValid ? undefined : "malformed_expectation";
}

/** The terms of another program prove nothing about the payout. */
function checkProgram(wire: SolanaInboxTerms, expected: ExpectedSolanaInbox): SolanaVerifyReason | undefined {
  if (wire.version !== solanaInboxVersion) return "unknown_version";
  return wire.program === (expected.program ?? findSolanaProgram(expected.cluster)) ? undefined : "wrong_program";
}

function checkAddress(inbox: SolanaInbox, expected: ExpectedSolanaInbox): SolanaVerifyReason | undefined {
  if (inbox.address !== expected.address) return "wrong_address";
  const isShown = expected.tokenAccount === undefined || expected.tokenAccount === inbox.tokenAccount;
  if (!isShown) return "wrong_token_account";
  return inbox.terms.mint === expected.mint ? undefined : "wrong_token";
}

function checkKind(
  { terms }: SolanaInbox,
  expected: ExpectedSolanaPayout | ExpectedSolanaHop,
): SolanaVerifyReason | undefined {
  if (terms.kind === "pay" && expected.kind === "pay") return checkPayout(terms, expected);
  if (terms.kind === "hop" && expected.kind === "hop") return checkHop(terms, expected);
  return "wrong_kind";
}

function checkPayout(terms: SolanaPayTerms, expected: ExpectedSolanaPayout): SolanaVerifyReason | undefined {
  if (terms.payout !== expected.payoutWallet) return "wrong_payout";
  if (expected.feeAccount !== undefined && terms.feeAccount !== expected.feeAccount) return "wrong_fee_recipient";
  // Written so that a limit that is not a number accepts nothing.
  return terms.feeBps <= expected.feeBpsMax ? undefined : "fee_too_high";
}

function checkHop(terms: SolanaHopTerms, expected: ExpectedSolanaHop): SolanaVerifyReason | undefined {
  const recipient = `0x${"0".repeat(24)}${parseAddress(expected.inboxAddress)?.slice(2)}`;
  if (terms.mintRecipient !== recipient) return "wrong_payout";
  if (terms.domain !== expected.domain) return "wrong_chain";
  // Another messenger would receive the inbox's signature, and with it the deposits.
  if (terms.messenger !== cctpMessenger) return "wrong_bridge";
  const isAgreed = terms.routes.every(({ feePpmMax }) => feePpmMax <= expected.feePpmMax);
  return isAgreed ? undefined : "fee_too_high";
}

/** Checks the terms by which a party other than the payout wallet could receive funds. */
function checkCommitments(
  { terms }: SolanaInbox,
  expected: ExpectedSolanaPayout | ExpectedSolanaHop,
): SolanaVerifyReason | undefined {
  const recoveries = [expected.recovery ?? noKey, ...(terms.kind === "pay" ? [terms.payout] : [])];
  if (!recoveries.includes(terms.recovery)) return "wrong_recovery";
  if (expected.intent === undefined) return undefined;
  const salt = computeInboxSalt(expected.intent.deploymentId, expected.intent.intentId);
  return terms.salt === salt ? undefined : "wrong_intent";
}
