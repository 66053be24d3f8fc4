import { findAsset, findChain } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import type { EventType, NewEvent } from "../event/event.ts";
import { appendEvents } from "../event/store.ts";
import { changedFields } from "../event/changedFields.ts";
import { intentRecord } from "../intent/record.ts";
import { isDestinationTaken, writeProgress, type IntentRow } from "../intent/store.ts";
import type { World } from "../world.ts";
import { priceUnitsOf, unagreedIds, type Unagreed } from "./agreement.ts";
import { countFinal } from "./count.ts";
import { isReceived, type Deposit } from "./deposit.ts";
import { finalityFor, reachedBlock, requiredConfirmations, type ChainHead, type Exposure } from "./finality.ts";
import { intentEventTypes, progressIntent, type DepositChange } from "./progress.ts";
import { depositRecord } from "./record.ts";
import { insertQuestions, listUnagreed, writeDeposits } from "./store.ts";

export type DepositWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "catalog" | "log">;

/** One intent under lock, with its deposits as the database has them and as the chain's word has left them. */
export type IntentCase = {
  intent: IntentRow;
  changes: readonly DepositChange[];
  /** Whether more is recorded of it than is taken over. Then nothing is counted yet: a block that was left may be among it. */
  isBehind: boolean;
};

type Decided = { before: IntentRow; after: IntentRow; changes: DepositChange[] };
type Recounted = {
  changes: DepositChange[];
  /** Deposits that would count, if more than one provider had told of them. */
  questions: Deposit[];
};

/** Counts what is final, and writes the deposits, the intents and what happened to them. The intents are locked by the caller. */
export async function applyChanges(
  tx: Tx,
  world: DepositWorld,
  batch: { cases: readonly IntentCase[]; heads: ReadonlyMap<string, ChainHead>; at: Date },
): Promise<void> {
  const decided: Decided[] = [];
  const questions: Deposit[] = [];
  const reopened = new Set<string>();
  const counted = await countedUnagreed(tx, world, batch.cases);
  for (const each of batch.cases) {
    const { intent: before } = each;
    const recounted = recount(world, each, { ...batch, counted });
    const { changes } = recounted;
    questions.push(...recounted.questions);
    if (changes.length === 0) continue;
    // Several that have settled in turn may lose their money in one go; the database has not heard of the first one yet.
    const mayReopen = before.status === "settled" && before.occupies;
    const isTaken = mayReopen && (reopened.has(destinationOf(before)) || (await isDestinationTaken(tx, before)));
    const after = progressIntent(before, changes, { isDestinationTaken: isTaken, at: batch.at });
    if (mayReopen && after.status === "active") reopened.add(destinationOf(before));
    decided.push({ before, after, changes });
  }
  await writeDeposits(
    tx,
    decided.flatMap(({ changes }) => changes.map((change) => change.after)),
  );
  await insertQuestions(tx, { deposits: questions, at: batch.at });
  await writeProgress(
    tx,
    decided.map(({ after }) => after),
  );
  const events = decided.flatMap((each) => eventsOf(world, each, batch.heads));
  await appendEvents(tx, world, { events, at: batch.at });
}

function destinationOf(intent: IntentRow): string {
  const { account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token } = intent;
  return [account_id, payout_namespace, payout_chain_reference, payout_wallet, payout_token].join("/");
}

/** What a limit allows has to be known only where there is one that something can be below. */
async function countedUnagreed(tx: Tx, world: DepositWorld, cases: readonly IntentCase[]): Promise<Unagreed[]> {
  const isLimited = world.catalog.chains.some((chain) => (chain.agreement?.abovePriceUnits ?? 0n) > 0n);
  if (!isLimited) return [];
  return listUnagreed(
    tx,
    cases.map((each) => each.intent.id),
  );
}

type RecountContext = { heads: ReadonlyMap<string, ChainHead>; counted: readonly Unagreed[]; at: Date };

/** Only what differs from the database in the end. */
function recount(world: DepositWorld, { intent, changes, isBehind }: IntentCase, context: RecountContext): Recounted {
  if (isBehind) return { changes: changes.filter((change) => change.before !== change.after), questions: [] };
  // A deposit that lost its place no longer adds to what is counted, also not while the rest is being decided.
  const placed = progressIntent(intent, changes, { isDestinationTaken: true, at: context.at });
  const deposits = changes.map((change) => change.after);
  const rules = rulesInForce(world, { deposits, heads: context.heads });
  const final = new Map([...rules].map(([chain, rule]) => [chain, rule.finalBlock]));
  const believed = countFinal(placed, deposits, { final, unagreed: NONE, at: context.at });
  const agreementOf = (chain: string) => findChain(world.catalog, chain)?.agreement;
  const counted = context.counted.filter((each) => each.intentId === intent.id);
  const doubtful = unagreedIds(changes, { counted, agreementOf });
  const questions = believed.filter((deposit) => deposit.status === "counted" && doubtful.has(deposit.id));
  const unagreed = new Set(questions.map((deposit) => deposit.id));
  const trusted = questions.length === 0 ? believed : countFinal(placed, deposits, { final, unagreed, at: context.at });
  return {
    questions,
    changes: changes
      .map((change, index) => ({ before: change.before, after: underRule(trusted[index] ?? change.after, rules) }))
      .filter((change) => change.before !== change.after),
  };
}

const NONE: ReadonlySet<string> = new Set();

type Rule = { finalBlock: bigint; requiredConfirmations: number | null };

/** Of each chain, how its deposits of one intent become final: the more there is of them, the more is asked for. */
function rulesInForce(
  world: DepositWorld,
  facts: { deposits: readonly Deposit[]; heads: ReadonlyMap<string, ChainHead> },
): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const [chain, deposits] of Map.groupBy(facts.deposits.filter(isReceived), (deposit) => deposit.chain)) {
    const head = facts.heads.get(chain);
    const finality =
      head && finalityFor(findChain(world.catalog, chain)?.finality ?? [], head, deposits.map(exposureOf));
    if (!head || !finality) continue;
    rules.set(chain, {
      finalBlock: reachedBlock(finality, head),
      requiredConfirmations: requiredConfirmations(finality),
    });
  }
  return rules;
}

/** What is not final yet says what it waits for now: others may have come beside it. */
function underRule(deposit: Deposit, rules: ReadonlyMap<string, Rule>): Deposit {
  const rule = rules.get(deposit.chain);
  if (deposit.status !== "seen" || rule === undefined) return deposit;
  if (deposit.required_confirmations === rule.requiredConfirmations) return deposit;
  return { ...deposit, required_confirmations: rule.requiredConfirmations };
}

export function exposureOf(deposit: Deposit): Exposure {
  return { blockNumber: deposit.block_number, priceUnits: priceUnitsOf(deposit) };
}

function eventsOf(
  world: DepositWorld,
  { before, after, changes }: Decided,
  heads: ReadonlyMap<string, ChainHead>,
): NewEvent[] {
  const about = {
    accountId: after.account_id,
    intentId: after.id,
    merchantReference: after.merchant_reference,
    livemode: after.livemode,
  };
  const depositEvents = changes.flatMap((change) => {
    const object = recordOf(world, change.after, heads);
    const previous = change.before === undefined ? null : changedFields(recordOf(world, change.before, heads), object);
    return depositEventTypes(change).map((type) => ({ ...about, type, object, previous }));
  });
  const context = { baseUrl: world.config.baseUrl };
  const object = intentRecord(after, context);
  const previous = changedFields(intentRecord(before, context), object);
  return [...depositEvents, ...intentEventTypes(before, after).map((type) => ({ ...about, type, object, previous }))];
}

function recordOf(
  world: DepositWorld,
  deposit: Deposit,
  heads: ReadonlyMap<string, ChainHead>,
): ReturnType<typeof depositRecord> {
  const symbol = findAsset(world.catalog, deposit.chain, deposit.token)?.symbol ?? deposit.token;
  return depositRecord(deposit, { symbol, headNumber: heads.get(deposit.chain)?.number ?? deposit.block_number });
}

/** The steps between two states of a deposit, each told once: a chain that is final at once still shows all of them. */
function depositEventTypes({ before, after }: DepositChange): EventType[] {
  const types: EventType[] = [];
  const isAnew = before === undefined || before.status === "dropped" || before.block_hash !== after.block_hash;
  if (isAnew && after.status !== "dropped") types.push("deposit.seen");
  if (after.confirmed_at !== null && (isAnew || before.confirmed_at === null)) types.push("deposit.confirmed");
  if (after.counted_at !== null && (isAnew || before.counted_at === null)) types.push("deposit.counted");
  if (after.status === "held" && (isAnew || before.status !== "held")) types.push("deposit.held");
  if (after.status === "dropped" && before?.status !== "dropped") types.push("deposit.dropped");
  return types;
}
