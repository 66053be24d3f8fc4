import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { RETENTION_DEFAULT } from "../../config/retention.ts";
import { isDenialFinal, retryDelayMs } from "../../deposit/agreement/agreement.ts";
import { lockIntents } from "../../intent/store.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";
import { addMs, DAY_MS } from "../../kernel/clock.ts";
import type { MovementRow } from "../../watch/movement.ts";
import { recordMovements } from "../../watch/record/recordMovements.ts";
import { verifyLegsWithProvider } from "../../watch/providers/verifyWithProvider.ts";
import { isolateIntents } from "../../handover/isolateIntents.ts";
import type { World } from "../../world.ts";
import { applyMovements, reportFindings, type AppliedMovements } from "./applyMovements.ts";
import {
  claimAgreements,
  deleteAgreements,
  deleteOldAgreements,
  listLegs,
  lockClaimedAgreement,
  updateAgreement,
  type SweepAgreementRow,
} from "../agreement/agreementStore.ts";
import { describeLegs, evaluateSweepVotes, type SweepOutcome, type SweepVote } from "../agreement/sweepAgreement.ts";

export type VerifySweepsWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "wake" | "memory" | "catalog">;

/** Sweeps per call. Each one queries every provider, all at the same time. */
const SWEEPS_MAX = 20;
/** Longer than the slowest provider takes to time out, and than any delay of a retry. */
const LEASE_MS = 120_000;
/** A provider that showed what the others deny is asked last for this long. */
const COOLDOWN_MS = 600_000;
const FAILURE_LENGTH_MAX = 300;
/** The attempt at which a waiting sweep raises its alarm; later attempts raise it about once an hour. */
const ALARM_ATTEMPT = 3;
const ALARM_EVERY = 60;

/**
 * Asks every provider of a chain for the sweeps above the single-provider limit. A sweep that enough of them show lands
 * its settlements; one that they deny is orphaned, as by a reorg. Any number of processes may run it at once. `asked`:
 * the number of sweeps.
 */
export async function verifySweeps(
  world: VerifySweepsWorld,
  chain: Chain,
): Promise<{ asked: number; isDone: boolean }> {
  const at = world.clock.now();
  const claim = {
    chain: chain.caip2,
    at,
    leaseUntil: addMs(at, LEASE_MS),
    waitMsMax: LEASE_MS,
    limit: SWEEPS_MAX,
  };
  const claimed = await world.db.transaction((tx) => claimAgreements(tx, claim));
  const rounds = await Promise.all(claimed.map((agreement) => collectVotes(world, chain, agreement)));
  for (const round of rounds)
    await isolateIntents(world, {
      chain: chain.caip2,
      work: "verify sweeps",
      intentIds: [round.agreement.intent_id],
      step: () => resolveRound(world, chain, round),
    });
  return { asked: claimed.length, isDone: claimed.length < SWEEPS_MAX };
}

type SweepRound = { agreement: SweepAgreementRow; legs: readonly MovementRow[]; votes: readonly SweepVote[] };

async function collectVotes(world: VerifySweepsWorld, chain: Chain, agreement: SweepAgreementRow): Promise<SweepRound> {
  const legs = await listLegs(world.db.root, agreement);
  if (!isAbout(agreement, legs)) return { agreement, legs, votes: [] };
  const replies = await chain.providers.runAll((reader) => verifyLegsWithProvider(reader, legs));
  const votes = replies.map((reply): SweepVote =>
    "answer" in reply
      ? { provider: reply.provider, findings: reply.answer }
      : { provider: reply.provider, failure: reply.error.message.slice(0, FAILURE_LENGTH_MAX) },
  );
  return { agreement, legs, votes };
}

/**
 * Whether a verification asks about these movements. Otherwise they have changed, and the settlement station opens it
 * anew.
 */
function isAbout(agreement: SweepAgreementRow, legs: readonly MovementRow[]): boolean {
  const now = describeLegs(legs);
  return now?.legsRevision === agreement.legs_revision && now.legsCount === agreement.legs_count;
}

async function resolveRound(world: VerifySweepsWorld, chain: Chain, round: SweepRound): Promise<void> {
  const result = await saveRound(world, chain, round);
  if (result === undefined) return;
  const { outcome, denied, attempts, applied } = result;
  logOutcome(world, { chain, round, outcome, attempts });
  if (applied !== undefined) {
    await reportFindings(world, chain.caip2, [applied]);
    world.wake.notify("events");
  }
  if (outcome !== "denied" || !isDenialFinal(outcome, attempts)) return;
  // The verification stays open until its movements are orphaned, so that another process repeats this step after a
  // crash.
  for (const vote of round.votes)
    if ("findings" in vote && denied.some((index) => vote.findings[index]?.verdict === "confirms"))
      chain.providers.coolDown(vote.provider, COOLDOWN_MS);
  for (const index of denied) {
    const leg = round.legs[index];
    if (leg !== undefined) await recordMovements(world, chain, { kind: "denied", movement: leg });
  }
}

type RoundResult = {
  outcome: SweepOutcome;
  denied: readonly number[];
  attempts: number;
  applied: AppliedMovements | undefined;
};

/**
 * Writes the votes, and lands the sweep when it is agreed. Undefined when its movements have changed since, or the
 * lease was lost.
 */
async function saveRound(
  world: VerifySweepsWorld,
  chain: Chain,
  { agreement, legs, votes }: SweepRound,
): Promise<RoundResult | undefined> {
  const at = world.clock.now();
  const requiredProviders = findWatchedChain(world.catalog, chain.caip2)?.agreement?.providers ?? 1;
  return world.db.transaction(async (tx) => {
    await lockIntents(tx, [agreement.intent_id]);
    if (!(await lockClaimedAgreement(tx, agreement))) return undefined;
    const current = await listLegs(tx, agreement);
    if (current.length === 0) {
      await deleteAgreements(tx, chain.caip2, [agreement]);
      return undefined;
    }
    const { outcome, denied } = evaluateSweepVotes(votes, { legsCount: legs.length, requiredProviders });
    const attempts = agreement.attempts + 1;
    if (votes.length === 0 || !isAbout(agreement, current)) {
      await updateAgreement(tx, agreement, {
        votes,
        attempts: agreement.attempts,
        retryAt: addMs(at, retryDelayMs(1)),
      });
      return undefined;
    }
    const retryAt = outcome === "agreed" ? null : addMs(at, retryDelayMs(attempts));
    await updateAgreement(tx, agreement, { votes, attempts, retryAt });
    const applied =
      outcome === "agreed" ? await applyMovements(tx, world, { chain: chain.caip2, movements: current }) : undefined;
    return { outcome, denied, attempts, applied };
  });
}

function logOutcome(
  world: VerifySweepsWorld,
  {
    chain,
    round: { agreement, votes },
    outcome,
    attempts,
  }: { chain: Chain; round: SweepRound; outcome: SweepOutcome; attempts: number },
): void {
  const fields = {
    chain: chain.caip2,
    intent: agreement.intent_id,
    chainTx: agreement.chain_tx,
    answers: votes.map(formatVote),
  };
  const isDenied = votes.some(
    (vote) => "findings" in vote && vote.findings.some(({ verdict }) => verdict === "denies"),
  );
  if (outcome === "denied" && isDenialFinal(outcome, attempts))
    raiseAlarm(
      world.log,
      { ...fields, alarm: "sweep_denied" },
      "providers deny a transfer out of an inbox; it is taken back",
    );
  else if (outcome === "agreed" && isDenied)
    raiseAlarm(
      world.log,
      { ...fields, alarm: "provider_contradicted" },
      "a provider denied a transfer out of an inbox that the others confirmed",
    );
  else if (outcome !== "agreed" && attempts % ALARM_EVERY === ALARM_ATTEMPT)
    raiseAlarm(
      world.log,
      { ...fields, alarm: "sweep_unconfirmed" },
      "a settlement waits, because its providers do not agree on a transfer out of its inbox",
    );
}

function formatVote(vote: SweepVote): string {
  if ("failure" in vote) return `${vote.provider}: ${vote.failure}`;
  const denial = vote.findings.find(({ verdict }) => verdict === "denies");
  if (denial !== undefined) return `${vote.provider} denies: ${denial.reason ?? ""}`;
  const isLacking = vote.findings.some(({ verdict }) => verdict === "lacks");
  return `${vote.provider} ${isLacking ? "lacks the block" : "confirms"}`;
}

/** Deletes up to `limit` verifications that were agreed before the retention, and returns their number. */
export async function purgeSweepAgreements(
  { db, clock, config }: Pick<World, "db" | "clock" | "config">,
  limit: number,
): Promise<number> {
  const { verificationsDays } = config.retention ?? RETENTION_DEFAULT;
  return deleteOldAgreements(db, { before: addMs(clock.now(), -verificationsDays * DAY_MS), limit });
}
