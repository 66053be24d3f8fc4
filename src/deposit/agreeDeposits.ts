import { findChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import type { ChainConfig } from "../config.ts";
import { claimIntents } from "../intent/store.ts";
import { addMs } from "../kernel/clock.ts";
import { takeBackMovement } from "../watch/takeBackMovement.ts";
import { testify } from "../watch/testimony.ts";
import type { World } from "../world.ts";
import { afterVerdict, isGone, judge, retryMs, type Answer, type Verdict } from "./agreement.ts";
import { applyChanges, exposureOf, type DepositWorld } from "./applyChanges.ts";
import { isHeldForAgreement, isReceived, type Deposit } from "./deposit.ts";
import { finalBlock, lowestReach } from "./finality.ts";
import {
  claimQuestions,
  deleteQuestion,
  findCursor,
  holdsQuestion,
  listHeads,
  listUnheard,
  listWorkingSet,
  writeAnswers,
  type OpenQuestion,
} from "./store.ts";

export type AgreeWorld = DepositWorld & Pick<World, "wake">;

/** Questions asked at once, each of every provider; as many again in the next call. */
const QUESTIONS_MAX = 20;
/** Longer than the slowest provider takes to fail; whoever claimed a question and died holds it up no longer. */
const LEASE_MS = 120_000;

/**
 * Asks every provider of a chain about the deposits that one provider's word is not enough for, and counts, holds or takes back each by what
 * they say. Bounded, and safe in any number of processes. Returns how many questions were asked.
 */
export async function agreeDeposits(world: AgreeWorld, chain: Chain): Promise<{ asked: number; isDone: boolean }> {
  const config = findChain(world.catalog, chain.caip2);
  if (config === undefined) return { asked: 0, isDone: true };
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, leaseUntil: addMs(at, LEASE_MS), limit: QUESTIONS_MAX };
  const questions = await world.db.transaction((tx) => claimQuestions(tx, claim));
  const tags = tagsOf(config);
  const heard = await Promise.all(questions.map((question) => ask(chain, question, tags)));
  for (const [index, question] of questions.entries()) {
    await conclude(world, { chain, config, question, answers: heard[index] ?? [] });
  }
  return { asked: questions.length, isDone: questions.length < QUESTIONS_MAX };
}

function tagsOf(config: ChainConfig): ("safe" | "finalized")[] {
  return config.finality.flatMap(({ finality }) => ("tag" in finality ? [finality.tag] : []));
}

async function ask(chain: Chain, question: OpenQuestion, tags: ("safe" | "finalized")[]): Promise<Answer[]> {
  const said = await chain.providers.askEach((driver) => testify(driver, question.movement, tags));
  return said.map((each) =>
    "answer" in each
      ? { provider: each.provider, testimony: each.answer }
      : { provider: each.provider, failure: each.error.message.slice(0, FAILURE_LENGTH_MAX) },
  );
}

const FAILURE_LENGTH_MAX = 300;

type Asked = { chain: Chain; config: ChainConfig; question: OpenQuestion; answers: readonly Answer[] };
type Conclusion = { verdict: Verdict; attempts: number; before: Deposit; after: Deposit };

async function conclude(world: AgreeWorld, asked: Asked): Promise<void> {
  const { chain, question } = asked;
  const conclusion = await record(world, asked);
  if (conclusion === undefined) return;
  alarm(world, asked, conclusion);
  // The question stays open until its deposit is dropped: who dies in between is followed by the next one.
  if (isGone(conclusion.verdict, conclusion.attempts)) await takeBackMovement(world, chain, question.movement);
  if (conclusion.after.status !== conclusion.before.status || conclusion.verdict === "agreed")
    world.wake.notify("events");
}

/** Writes what was said and what it makes of the deposit. Undefined when that is no longer what was asked about, or no longer ours to ask. */
async function record(world: AgreeWorld, asked: Asked): Promise<Conclusion | undefined> {
  const { question, config, answers } = asked;
  const { caip2: chain } = asked.chain;
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const heads = await listHeads(tx);
    const head = heads.get(chain);
    const [intent] = await claimIntents(tx, [question.intentId]);
    if (intent === undefined || !(await holdsQuestion(tx, question))) return undefined;
    const behind = await listUnheard(tx, await findCursor(tx, chain), [intent.id]);
    if (behind.size > 0) {
      // Its movements have changed since, and are taken over first.
      const { depositId, attempts } = question;
      await writeAnswers(tx, { depositId, state: "asking", answers, attempts, retryAt: addMs(at, retryMs(1)) });
      return undefined;
    }
    const known = await listWorkingSet(tx, {
      intentIds: [intent.id],
      movementIds: [question.movement.id],
      chain,
      aboveBlock: lowestReach(config.finality, head),
    });
    const before = known.find((deposit) => deposit.id === question.depositId);
    if (before === undefined || !isAskedFor(before, question)) {
      await deleteQuestion(tx, question.depositId);
      return undefined;
    }
    const exposures = known
      .filter((deposit) => deposit.chain === chain && (isReceived(deposit) || isHeldForAgreement(deposit)))
      .map(exposureOf);
    const verdict = judge(answers, {
      providers: config.agreement?.providers ?? 1,
      isFinalAt: (theirs) => finalBlock(config.finality, { chain, ...theirs }, exposures) >= before.block_number,
    });
    const attempts = question.attempts + 1;
    const after = afterVerdict(before, { verdict, attempts, at });
    const isAgreed = verdict === "agreed";
    await writeAnswers(tx, {
      depositId: before.id,
      state: isAgreed ? "agreed" : "asking",
      answers,
      attempts,
      retryAt: isAgreed ? null : addMs(at, retryMs(attempts)),
    });
    const changes = known.map((deposit) => ({ before: deposit, after: deposit === before ? after : deposit }));
    await applyChanges(tx, world, { cases: [{ intent, isBehind: false, changes }], heads, at });
    return { verdict, attempts, before, after };
  });
}

function isAskedFor(deposit: Deposit, { movement }: OpenQuestion): boolean {
  const isOpen = deposit.status === "seen" || deposit.status === "confirmed" || isHeldForAgreement(deposit);
  return isOpen && deposit.agreed_at === null && deposit.block_hash === movement.block_hash;
}

/** One line when a deposit begins to be held, and one when a provider was contradicted by the others; each names who said what. */
function alarm(world: AgreeWorld, asked: Asked, { verdict, before, after }: Conclusion): void {
  const facts = {
    chain: asked.chain.caip2,
    deposit: after.id,
    intent: after.intent_id,
    chainTx: after.chain_tx,
    answers: asked.answers.map(inWords),
  };
  const isDenied = asked.answers.some((answer) => "testimony" in answer && answer.testimony.verdict === "denies");
  if (verdict === "agreed" && isDenied) {
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

function inWords(answer: Answer): string {
  if ("failure" in answer) return `${answer.provider}: ${answer.failure}`;
  const { verdict, because } = answer.testimony;
  return because === null ? `${answer.provider} ${verdict}` : `${answer.provider} ${verdict}: ${because}`;
}
