import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { ChainConfig } from "../../config/config.ts";
import { RETENTION_DEFAULT } from "../../config/retention.ts";
import { isolateIntents } from "../../handover/isolateIntents.ts";
import { lockIntents } from "../../intent/store.ts";
import { addMs, DAY_MS } from "../../kernel/clock.ts";
import type { MovementRow } from "../../watch/movement.ts";
import { recordMovements } from "../../watch/record/recordMovements.ts";
import { verifyWithProvider } from "../../watch/providers/verifyWithProvider.ts";
import type { World } from "../../world.ts";
import {
  applyOutcome,
  isDenialFinal,
  evaluateAgreement,
  retryDelayMs,
  type ProviderVote,
  type AgreementOutcome,
} from "../agreement/agreement.ts";
import { decideIntents, type DepositWorld } from "../decide/applyDecisions.ts";
import { exposureOn } from "../decide/exposure.ts";
import { readFacts } from "../decide/readFacts.ts";
import { isAgreementReason, isHeldForAgreement, type Deposit } from "../deposit.ts";
import { agedNumbersAt } from "../../watch/finality.ts";
import { lastCountableBlock } from "../finality.ts";
import {
  claimVerifications,
  deleteAgreedVerifications,
  deleteVerification,
  lockClaimedVerification,
  updateVerification,
  type ClaimedVerification,
} from "../agreement/verificationStore.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

export type VerifyWorld = DepositWorld & Pick<World, "wake" | "memory">;

/** Verifications per call. Each one queries every provider, all at the same time. */
const VERIFICATIONS_MAX = 20;
/**
 * Longer than the slowest provider takes to time out, and than any delay of a retry. After a crash another process
 * resumes the verification then.
 */
const LEASE_MS = 120_000;
/**
 * A provider that showed what the others deny is asked last for this long, so that it does not show it again at once.
 */
const COOLDOWN_MS = 600_000;

/**
 * Verifies deposits above the single-provider limit with every provider of a chain, and counts, holds or drops each by
 * the outcome. A call is bounded, and any number of processes may run it at once. Returns the number of verifications
 * in `asked`.
 */
export async function verifyDeposits(world: VerifyWorld, chain: Chain): Promise<{ asked: number; isDone: boolean }> {
  const config = findWatchedChain(world.catalog, chain.caip2);
  if (config === undefined) return { asked: 0, isDone: true };
  const at = world.clock.now();
  const claim = {
    chain: chain.caip2,
    at,
    leaseUntil: addMs(at, LEASE_MS),
    waitMsMax: LEASE_MS,
    limit: VERIFICATIONS_MAX,
  };
  const claimed = await world.db.transaction((tx) => claimVerifications(tx, claim));
  const finalityTags = configuredFinalityTags(config);
  const votes = await Promise.all(
    claimed.map(({ movement }) => collectVotes(world, chain, { movement, tags: finalityTags })),
  );
  for (const [index, verification] of claimed.entries()) {
    await isolateIntents(world, {
      chain: chain.caip2,
      work: "verify deposits",
      intentIds: [verification.intentId],
      step: () => resolveVerification(world, { chain, config, verification, votes: votes[index] ?? [] }),
    });
  }
  return { asked: claimed.length, isDone: claimed.length < VERIFICATIONS_MAX };
}

function configuredFinalityTags(config: ChainConfig): ("safe" | "finalized")[] {
  return config.finality.flatMap(({ finality }) => ("tag" in finality ? [finality.tag] : []));
}

async function collectVotes(
  world: VerifyWorld,
  chain: Chain,
  asked: { movement: MovementRow; tags: readonly ("safe" | "finalized")[] },
): Promise<ProviderVote[]> {
  const replies = await chain.providers.runAll((reader) => verifyWithProvider(world, reader, asked));
  return replies.map((reply) =>
    "answer" in reply
      ? { provider: reply.provider, testimony: reply.answer }
      : { provider: reply.provider, failure: reply.error.message.slice(0, FAILURE_LENGTH_MAX) },
  );
}

const FAILURE_LENGTH_MAX = 300;

type VerificationRound = {
  chain: Chain;
  config: ChainConfig;
  verification: ClaimedVerification;
  votes: readonly ProviderVote[];
};
type VerificationResult = { outcome: AgreementOutcome; attempts: number; before: Deposit; after: Deposit };

async function resolveVerification(world: VerifyWorld, round: VerificationRound): Promise<void> {
  const { chain, verification } = round;
  const result = await saveResult(world, round);
  if (result === undefined) return;
  logVerdict(world, round, result);
  // The verification stays open until the deposit is dropped, so that another process repeats this step after a crash.
  if (isDenialFinal(result.outcome, result.attempts)) {
    for (const vote of round.votes)
      if ("testimony" in vote && vote.testimony.verdict === "confirms")
        chain.providers.coolDown(vote.provider, COOLDOWN_MS);
    await recordMovements(world, chain, { kind: "denied", movement: verification.movement });
  }
  if (result.after.status !== result.before.status || result.outcome === "agreed") world.wake.notify("events");
}

/**
 * Writes the votes and applies their outcome to the deposit. Undefined when the deposit has changed since, or the lease
 * was lost.
 */
async function saveResult(world: VerifyWorld, round: VerificationRound): Promise<VerificationResult | undefined> {
  const { verification, config, votes } = round;
  const { caip2: chain } = round.chain;
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const [intent] = await lockIntents(tx, [verification.intentId]);
    if (intent === undefined || !(await lockClaimedVerification(tx, verification))) return undefined;
    const movementIds = [verification.movement.id];
    const [known] = await readFacts(tx, world, { intents: [intent], chain, movementIds, at });
    if (known === undefined) return undefined;
    const { facts } = known;
    if (facts.isBehind(chain)) {
      // The intent's movements have changed since; processMovements runs first.
      const { depositId, attempts } = verification;
      await updateVerification(tx, {
        depositId,
        state: "asking",
        votes,
        attempts,
        retryAt: addMs(at, retryDelayMs(1)),
      });
      return undefined;
    }
    const before = facts.known().find((deposit) => deposit.id === verification.depositId);
    if (before === undefined || !needsVerification(before, verification)) {
      await deleteVerification(tx, verification.depositId);
      return undefined;
    }
    const exposure = exposureOn(facts, chain);
    const outcome = evaluateAgreement(votes, {
      requiredProviders: config.agreement?.providers ?? 1,
      isFinalAt: ({ ageS, ...heights }) => {
        const { number } = heights;
        const agedNumbers = agedNumbersAt(before.block_number, { number, ageS, tiers: config.finality });
        const head = { chain, ...heights, agedNumbers };
        return lastCountableBlock(config.finality, head, exposure) >= before.block_number;
      },
    });
    const attempts = verification.attempts + 1;
    const after = applyOutcome(before, { outcome, attempts, at });
    const isAgreed = outcome === "agreed";
    await updateVerification(tx, {
      depositId: before.id,
      state: isAgreed ? "agreed" : "asking",
      votes,
      attempts,
      retryAt: isAgreed ? null : addMs(at, retryDelayMs(attempts)),
    });
    await decideIntents(tx, world, { cases: [{ intent, facts: facts.withDeposits([{ before, after }]) }], at });
    return { outcome, attempts, before, after };
  });
}

function needsVerification(deposit: Deposit, { movement }: ClaimedVerification): boolean {
  const isOpen = deposit.status === "seen" || deposit.status === "confirmed" || isHeldForAgreement(deposit);
  return isOpen && deposit.agreed_at === null && deposit.block_hash === movement.block_hash;
}

/**
 * Logs an alarm when a deposit becomes held, or when other providers outvote a denial. Both list every provider's vote.
 */
function logVerdict(
  world: VerifyWorld,
  round: VerificationRound,
  { outcome, before, after }: VerificationResult,
): void {
  const fields = {
    chain: round.chain.caip2,
    deposit: after.id,
    intent: after.intent_id,
    chainTx: after.chain_tx,
    answers: round.votes.map(formatVote),
  };
  const isDenied = round.votes.some((vote) => "testimony" in vote && vote.testimony.verdict === "denies");
  if (outcome === "agreed" && isDenied) {
    raiseAlarm(
      world.log,
      { ...fields, alarm: "provider_contradicted" },
      "a provider denied a deposit that the others confirmed",
    );
  } else if (after.status === "held" && isAgreementReason(after.reason) && after.reason !== before.reason) {
    raiseAlarm(world.log, { ...fields, alarm: after.reason }, "a deposit was held because its providers did not agree");
  }
}

function formatVote(vote: ProviderVote): string {
  if ("failure" in vote) return `${vote.provider}: ${vote.failure}`;
  const { verdict, reason } = vote.testimony;
  return reason === null ? `${vote.provider} ${verdict}` : `${vote.provider} ${verdict}: ${reason}`;
}

/**
 * Deletes up to `limit` verifications that were agreed before the retention, and returns their number. Their deposits
 * keep the time of the agreement.
 */
export async function purgeVerifications(
  { db, clock, config }: Pick<World, "db" | "clock" | "config">,
  limit: number,
): Promise<number> {
  const { verificationsDays } = config.retention ?? RETENTION_DEFAULT;
  return deleteAgreedVerifications(db, { before: addMs(clock.now(), -verificationsDays * DAY_MS), limit });
}
