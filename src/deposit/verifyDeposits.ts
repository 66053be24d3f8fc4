import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import type { ChainConfig } from "../config/config.ts";
import { lockIntents } from "../intent/store.ts";
import { addMs } from "../kernel/clock.ts";
import { orphanDeniedMovement } from "../watch/providers/orphanDeniedMovement.ts";
import { verifyWithProvider } from "../watch/providers/verifyWithProvider.ts";
import type { World } from "../world.ts";
import {
  applyOutcome,
  isDenialFinal,
  evaluateAgreement,
  retryDelayMs,
  type ProviderVote,
  type AgreementOutcome,
} from "./agreement.ts";
import { applyDepositChanges, toExposure, type DepositWorld } from "./applyDepositChanges.ts";
import { isHeldForAgreement, isReceived, type Deposit } from "./deposit.ts";
import { lastCountableBlock, lowestFinalBlock } from "./finality.ts";
import {
  claimVerifications,
  deleteVerification,
  lockClaimedVerification,
  listHeads,
  listIntentsWithPendingMovements,
  listDepositsToDecide,
  updateVerification,
  type ClaimedVerification,
} from "./store.ts";
import { findHandoverCursor } from "../watch/store/handoverStore.ts";

export type VerifyWorld = DepositWorld & Pick<World, "wake" | "memory">;

/** Questions asked at once, each of every provider; as many again in the next call. */
const VERIFICATIONS_MAX = 20;
/** Longer than the slowest provider takes to fail; whoever claimed a question and died holds it up no longer. */
const LEASE_MS = 120_000;

/**
 * Asks every provider of a chain about the deposits that one provider's word is not enough for, and counts, holds or takes back each by what
 * they say. Bounded, and safe in any number of processes. Returns how many questions were asked.
 */
export async function verifyDeposits(world: VerifyWorld, chain: Chain): Promise<{ asked: number; isDone: boolean }> {
  const config = findWatchedChain(world.catalog, chain.caip2);
  if (config === undefined) return { asked: 0, isDone: true };
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, leaseUntil: addMs(at, LEASE_MS), limit: VERIFICATIONS_MAX };
  const claimed = await world.db.transaction((tx) => claimVerifications(tx, claim));
  const finalityTags = configuredFinalityTags(config);
  const votes = await Promise.all(claimed.map((question) => askProviders(chain, question, finalityTags)));
  for (const [index, verification] of claimed.entries()) {
    await resolveVerification(world, { chain, config, verification, votes: votes[index] ?? [] });
  }
  return { asked: claimed.length, isDone: claimed.length < VERIFICATIONS_MAX };
}

function configuredFinalityTags(config: ChainConfig): ("safe" | "finalized")[] {
  return config.finality.flatMap(({ finality }) => ("tag" in finality ? [finality.tag] : []));
}

async function askProviders(
  chain: Chain,
  question: ClaimedVerification,
  tags: ("safe" | "finalized")[],
): Promise<ProviderVote[]> {
  const replies = await chain.providers.askEach((driver) => verifyWithProvider(driver, question.movement, tags));
  return replies.map((each) =>
    "answer" in each
      ? { provider: each.provider, testimony: each.answer }
      : { provider: each.provider, failure: each.error.message.slice(0, FAILURE_LENGTH_MAX) },
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
  raiseAlarm(world, round, result);
  // The question stays open until its deposit is dropped: who dies in between is followed by the next one.
  if (isDenialFinal(result.outcome, result.attempts)) await orphanDeniedMovement(world, chain, verification.movement);
  if (result.after.status !== result.before.status || result.outcome === "agreed") world.wake.notify("events");
}

/** Writes what was said and what it makes of the deposit. Undefined when that is no longer what was asked about, or no longer ours to ask. */
async function saveResult(world: VerifyWorld, asked: VerificationRound): Promise<VerificationResult | undefined> {
  const { verification, config, votes } = asked;
  const { caip2: chain } = asked.chain;
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const heads = await listHeads(tx);
    const head = heads.get(chain);
    const [intent] = await lockIntents(tx, [verification.intentId]);
    if (intent === undefined || !(await lockClaimedVerification(tx, verification))) return undefined;
    const intentsWithPendingMovements = await listIntentsWithPendingMovements(
      tx,
      await findHandoverCursor(tx, "deposit_cursor", chain),
      [intent.id],
    );
    if (intentsWithPendingMovements.size > 0) {
      // Its movements have changed since, and are taken over first.
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
    const known = await listDepositsToDecide(tx, {
      intentIds: [intent.id],
      movementIds: [verification.movement.id],
      chain,
      aboveBlock: lowestFinalBlock(config.finality, head),
    });
    const before = known.find((deposit) => deposit.id === verification.depositId);
    if (before === undefined || !needsVerification(before, verification)) {
      await deleteVerification(tx, verification.depositId);
      return undefined;
    }
    const exposures = known
      .filter((deposit) => deposit.chain === chain && (isReceived(deposit) || isHeldForAgreement(deposit)))
      .map(toExposure);
    const outcome = evaluateAgreement(votes, {
      requiredProviders: config.agreement?.providers ?? 1,
      isFinalAt: (theirs) =>
        lastCountableBlock(config.finality, { chain, ...theirs }, exposures) >= before.block_number,
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
    const changes = known.map((deposit) => ({ before: deposit, after: deposit === before ? after : deposit }));
    await applyDepositChanges(tx, world, { cases: [{ intent, hasPendingMovements: false, changes }], heads, at });
    return { outcome, attempts, before, after };
  });
}

function needsVerification(deposit: Deposit, { movement }: ClaimedVerification): boolean {
  const isOpen = deposit.status === "seen" || deposit.status === "confirmed" || isHeldForAgreement(deposit);
  return isOpen && deposit.agreed_at === null && deposit.block_hash === movement.block_hash;
}

/** One line when a deposit begins to be held, and one when a provider was contradicted by the others; each names who said what. */
function raiseAlarm(
  world: VerifyWorld,
  asked: VerificationRound,
  { outcome, before, after }: VerificationResult,
): void {
  const facts = {
    chain: asked.chain.caip2,
    deposit: after.id,
    intent: after.intent_id,
    chainTx: after.chain_tx,
    answers: asked.votes.map(formatVote),
  };
  const isDenied = asked.votes.some((answer) => "testimony" in answer && answer.testimony.verdict === "denies");
  if (outcome === "agreed" && isDenied) {
    world.log.error(
      { ...facts, alarm: "provider_contradicted" },
      "a provider denies a deposit that the others confirm",
    );
  } else if (after.status === "held" && after.reason !== before.reason) {
    world.log.error(
      { ...facts, alarm: after.reason },
      "a deposit is held, because its chain's providers do not agree on it",
    );
  }
}

function formatVote(answer: ProviderVote): string {
  if ("failure" in answer) return `${answer.provider}: ${answer.failure}`;
  const { verdict, reason } = answer.testimony;
  return reason === null ? `${answer.provider} ${verdict}` : `${answer.provider} ${verdict}: ${reason}`;
}
