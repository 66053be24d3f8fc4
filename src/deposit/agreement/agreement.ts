import type { AgreementPolicy } from "../../config/config.ts";
import { convertUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import type { ProviderVerdict } from "../../watch/providers/verifyWithProvider.ts";
import { isHeldForAgreement, isReceived, type Deposit } from "../deposit.ts";
import type { ChainHead } from "../finality.ts";
import type { DepositChange } from "../deposit.ts";
import { backoffMs } from "../../kernel/clock.ts";

// Decides which deposits several providers must confirm, and combines their verdicts. Pure functions.

/** A provider's latest verdict on a deposit, or the error of its latest call. */
export type ProviderVote = { provider: string } & ({ testimony: ProviderVerdict } | { failure: string });

export type AgreementOutcome =
  /** At least the required number confirm the deposit and its finality, and they outnumber the denials. */
  | "agreed"
  /** At least the required number deny it, and they outnumber the confirmations. */
  | "denied"
  /** At least one provider denies it, without a decision. */
  | "disagreement"
  /** Enough providers answered and none denies it, but too few have its block and report it final. */
  | "early"
  /** No provider denies it, but too few have answered. */
  | "pending";

export type AgreementRule = {
  /** The minimum number of equal verdicts. */
  requiredProviders: number;
  /**
   * Whether the deposit may be counted at the heights that a provider reports, and at the age of the deposit's block by
   * its clock.
   */
  isFinalAt: (head: ReportedHeights) => boolean;
};

type ReportedHeights = Pick<ChainHead, "number" | "safeNumber" | "finalizedNumber"> & Pick<ProviderVerdict, "ageS">;

export function evaluateAgreement(votes: readonly ProviderVote[], rule: AgreementRule): AgreementOutcome {
  const verdicts = votes.flatMap((vote) => ("testimony" in vote ? [vote.testimony] : []));
  const confirming = verdicts.filter(({ verdict }) => verdict === "confirms");
  const denying = verdicts.filter(({ verdict }) => verdict === "denies").length;
  if (denying >= rule.requiredProviders && denying > confirming.length) return "denied";
  const final = confirming.filter(({ latest, safe, finalized, ageS }) =>
    rule.isFinalAt({ number: latest, safeNumber: safe, finalizedNumber: finalized, ageS }),
  );
  if (final.length >= rule.requiredProviders && final.length > denying) return "agreed";
  if (denying > 0) return "disagreement";
  return verdicts.length >= rule.requiredProviders ? "early" : "pending";
}

/** The sum of an intent's counted deposits on one chain that a single provider reported, in units of `decimals`. */
export type SingleProviderTotal = { intentId: string; chain: string; decimals: number; units: bigint };

/**
 * Ids of one intent's deposits that more providers must confirm before they count. Per chain these are all unverified
 * deposits, once their sum with the single-provider deposits counted before is above the limit. Splitting a payment
 * evades a limit per deposit.
 */
export function findOverSingleProviderLimit(
  changes: readonly DepositChange[],
  context: { counted: readonly SingleProviderTotal[]; agreementOf: (chain: string) => AgreementPolicy | undefined },
): Set<string> {
  const open = changes.filter(({ after }) => isUnverified(after));
  const ids = new Set<string>();
  for (const [chain, unverified] of Map.groupBy(open, ({ after }) => after.chain)) {
    const agreement = context.agreementOf(chain);
    if (agreement === undefined) continue;
    const countedUnits = context.counted
      .filter((each) => each.chain === chain)
      .reduce((sum, { units, decimals }) => sum + convertUnits(units, decimals, PRICE_DECIMALS), 0n);
    // The database total already includes the deposits that were counted before.
    const notYetSummed = unverified.filter(({ before }) => before?.status !== "counted" || before.agreed_at !== null);
    const units = notYetSummed.reduce((sum, { after }) => sum + toPriceUnits(after), countedUnits);
    if (units > agreement.abovePriceUnits) for (const { after } of unverified) ids.add(after.id);
  }
  return ids;
}

/** Whether only a single provider reported a deposit that is not counted yet. */
function isUnverified(deposit: Deposit): boolean {
  if (deposit.agreed_at !== null || deposit.status === "counted") return false;
  return isReceived(deposit) || isHeldForAgreement(deposit);
}

export function toPriceUnits(deposit: Deposit): bigint {
  return convertUnits(deposit.amount_units, deposit.token_decimals, PRICE_DECIMALS);
}

/**
 * The attempt at which a deposit becomes held. The earlier ones bridge short outages, and about two minutes for
 * providers that lag.
 */
const TRIES_UNTIL_HELD = 3;
const TRIES_UNTIL_HELD_NOT_FINAL = 8;
/** The attempt at which a denied movement is orphaned: during a reorg the providers' verdicts may still change. */
const TRIES_UNTIL_DENIED = 5;
const RETRY = { firstMs: 1_000, maxMs: 60_000 };

export function retryDelayMs(attempts: number): number {
  return backoffMs(Math.max(attempts - 1, 0), RETRY);
}

/** Applies the outcome of attempt number `attempts` (from 1) to a deposit: agreed, held or unchanged. */
export function applyOutcome(
  deposit: Deposit,
  result: { outcome: AgreementOutcome; attempts: number; at: Date },
): Deposit {
  const { outcome, attempts, at } = result;
  if (outcome === "agreed") {
    const released = isHeldForAgreement(deposit) ? ({ status: "seen", reason: null } as const) : {};
    return { ...deposit, ...released, agreed_at: at, updated_at: at };
  }
  const isDenied = outcome === "disagreement" || outcome === "denied";
  const reason = isDenied ? "provider_disagreement" : "provider_agreement_pending";
  const isSame = deposit.status === "held" && deposit.reason === reason;
  if (isSame || attempts < (outcome === "early" ? TRIES_UNTIL_HELD_NOT_FINAL : TRIES_UNTIL_HELD)) return deposit;
  return { ...deposit, status: "held", reason, updated_at: at };
}

export function isDenialFinal(verdict: AgreementOutcome, attempts: number): boolean {
  return verdict === "denied" && attempts >= TRIES_UNTIL_DENIED;
}
