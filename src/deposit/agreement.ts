import type { AgreementPolicy } from "../config/config.ts";
import { convertUnits, PRICE_DECIMALS } from "../kernel/units.ts";
import type { ProviderVerdict } from "../watch/providers/verifyWithProvider.ts";
import { isHeldForAgreement, isReceived, type Deposit } from "./deposit.ts";
import type { ChainHead } from "./finality.ts";
import type { DepositChange } from "./computeIntentProgress.ts";

// When one provider's word is enough, and what several words come to. Pure.

/** What a provider said when it was asked last; without a testimony it did not answer, and `failure` says why. */
export type ProviderVote = { provider: string } & ({ testimony: ProviderVerdict } | { failure: string });

export type AgreementOutcome =
  /** As many as are asked for confirm it and its finality, and they are more than those who deny. */
  | "agreed"
  /** As many deny it, and they are more than those who confirm. */
  | "denied"
  /** Somebody denies it, and it is not decided. */
  | "disagreement"
  /** Nobody denies it, and enough know it or will: they do not have its block yet, or do not call it final. */
  | "early"
  /** Nobody denies it, but too few have answered. */
  | "pending";

export type AgreementRule = {
  /** How many must say the same. */
  requiredProviders: number;
  /** Whether the deposit may be counted, were the chain as far and as final as a provider says. */
  isFinalAt: (head: Pick<ChainHead, "number" | "safeNumber" | "finalizedNumber">) => boolean;
};

export function evaluateAgreement(votes: readonly ProviderVote[], rule: AgreementRule): AgreementOutcome {
  const verdicts = votes.flatMap((answer) => ("testimony" in answer ? [answer.testimony] : []));
  const confirming = verdicts.filter((testimony) => testimony.verdict === "confirms");
  const denying = verdicts.filter((testimony) => testimony.verdict === "denies").length;
  if (denying >= rule.requiredProviders && denying > confirming.length) return "denied";
  const final = confirming.filter(({ latest, safe, finalized }) =>
    rule.isFinalAt({ number: latest, safeNumber: safe, finalizedNumber: finalized }),
  );
  if (final.length >= rule.requiredProviders && final.length > denying) return "agreed";
  if (denying > 0) return "disagreement";
  return verdicts.length >= rule.requiredProviders ? "early" : "pending";
}

/** What was counted of an intent on one chain on one provider's word, in one token's decimals. */
export type SingleProviderTotal = { intentId: string; chain: string; decimals: number; units: bigint };

/**
 * Ids of deposits of one intent that may not be counted before others confirm them: all that nobody has confirmed, once their sum with
 * what was counted like that before is above the limit. The sum decides, because a limit per deposit is evaded by splitting.
 */
export function findOverSingleProviderLimit(
  changes: readonly DepositChange[],
  facts: { counted: readonly SingleProviderTotal[]; agreementOf: (chain: string) => AgreementPolicy | undefined },
): Set<string> {
  const open = changes.filter(({ after }) => isUnverified(after));
  const ids = new Set<string>();
  for (const [chain, unverified] of Map.groupBy(open, ({ after }) => after.chain)) {
    const agreement = facts.agreementOf(chain);
    if (agreement === undefined) continue;
    const countedUnits = facts.counted
      .filter((each) => each.chain === chain)
      .reduce((sum, { units, decimals }) => sum + convertUnits(units, decimals, PRICE_DECIMALS), 0n);
    // What was counted before is in the sum of the database already.
    const notYetSummed = unverified.filter(({ before }) => before?.status !== "counted" || before.agreed_at !== null);
    const units = notYetSummed.reduce((sum, { after }) => sum + toPriceUnits(after), countedUnits);
    if (units > agreement.abovePriceUnits) for (const { after } of unverified) ids.add(after.id);
  }
  return ids;
}

/** Not counted yet, and known from one provider only. */
function isUnverified(deposit: Deposit): boolean {
  if (deposit.agreed_at !== null || deposit.status === "counted") return false;
  return isReceived(deposit) || isHeldForAgreement(deposit);
}

export function toPriceUnits(deposit: Deposit): bigint {
  return convertUnits(deposit.amount_units, deposit.token_decimals, PRICE_DECIMALS);
}

/** Tries after which a deposit is held in public; the first few only bridge what passes within seconds, or two minutes for who is late. */
const TRIES_UNTIL_HELD = 3;
const TRIES_UNTIL_HELD_NOT_FINAL = 8;
/** Tries at which providers must deny a movement before it is taken back: they may be changing their minds just now. */
const TRIES_UNTIL_DENIED = 5;
const RETRY_MS_FIRST = 1_000;
const RETRY_MS_MAX = 60_000;

export function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_MS_FIRST * 2 ** Math.max(attempts - 1, 0), RETRY_MS_MAX);
}

/** What a deposit becomes by the verdict of the `attempts`th try. */
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
