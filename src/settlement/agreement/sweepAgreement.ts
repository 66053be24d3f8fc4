import type { AgreementPolicy } from "../../config/config.ts";
import { convertUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import type { MovementRow } from "../../watch/movement.ts";
import type { MovementFinding } from "../../watch/providers/verifyWithProvider.ts";

// Decides which sweeps several providers must confirm, and combines their answers. Pure functions.

/** What leaves an inbox in one transaction and token. `legsRevision`, `legsCount`: see the table. */
export type SweepLegs = {
  intentId: string;
  token: string;
  chainTx: string;
  blockNumber: bigint;
  legsRevision: bigint;
  legsCount: number;
};

/** The movements of one sweep as one value; undefined without any. */
export function describeLegs(legs: readonly MovementRow[]): SweepLegs | undefined {
  const [first, ...others] = legs;
  if (first === undefined) return undefined;
  const highest = (one: bigint, other: bigint) => (one > other ? one : other);
  return {
    intentId: first.intent_id,
    token: first.token,
    chainTx: first.chain_tx,
    blockNumber: others.reduce((most, leg) => highest(most, leg.block_number), first.block_number),
    legsRevision: others.reduce((most, leg) => highest(most, leg.revision), first.revision),
    legsCount: legs.length,
  };
}

/**
 * What left an intent's inboxes in one token by sweeps that only one provider has shown. `decimals` is undefined for an
 * unknown token.
 */
export type UnconfirmedOutflow = { units: bigint; decimals: number | undefined };

/**
 * Whether the next sweep of an intent needs more than one provider: by the sum of all that only one has shown, because
 * many small sweeps must not evade the limit.
 */
export function isOverSingleProviderLimit(
  outflows: readonly UnconfirmedOutflow[],
  { abovePriceUnits }: Pick<AgreementPolicy, "abovePriceUnits">,
): boolean {
  let sum = 0n;
  for (const { units, decimals } of outflows) {
    if (decimals === undefined) return true;
    sum += convertUnits(units, decimals, PRICE_DECIMALS);
  }
  return sum > abovePriceUnits;
}

/** What one provider finds of a sweep's movements, in their order, or the error of its call. */
export type SweepVote = { provider: string } & ({ findings: readonly MovementFinding[] } | { failure: string });

export type SweepOutcome =
  /** Enough providers show every movement, and more than deny one. */
  | "agreed"
  /** Enough providers deny a movement, and more than show it. */
  | "denied"
  /** A provider denies a movement, without a decision. */
  | "disagreement"
  /** No provider denies one, but too few show all. */
  | "pending";

/** `denied`: the indexes of the movements that are denied. */
export function evaluateSweepVotes(
  votes: readonly SweepVote[],
  { legsCount, requiredProviders }: { legsCount: number; requiredProviders: number },
): { outcome: SweepOutcome; denied: number[] } {
  const answers = votes.flatMap((vote) => ("findings" in vote ? [vote.findings] : []));
  const count = (index: number, verdict: MovementFinding["verdict"]) =>
    answers.filter((findings) => findings[index]?.verdict === verdict).length;
  const indexes = Array.from({ length: legsCount }, (_, index) => index);
  const denied = indexes.filter((index) => {
    const denying = count(index, "denies");
    return denying >= requiredProviders && denying > count(index, "confirms");
  });
  if (denied.length > 0) return { outcome: "denied", denied };
  const isConfirmed = (index: number) => {
    const confirming = count(index, "confirms");
    return confirming >= requiredProviders && confirming > count(index, "denies");
  };
  if (indexes.every(isConfirmed)) return { outcome: "agreed", denied };
  const isDenied = indexes.some((index) => count(index, "denies") > 0);
  return { outcome: isDenied ? "disagreement" : "pending", denied };
}
