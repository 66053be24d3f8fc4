import { findAsset } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import { changedFields } from "../../event/changedFields.ts";
import type { NewEvent } from "../../event/event.ts";
import { appendEvents } from "../../event/store.ts";
import { intentRecord } from "../../intent/intentRecord.ts";
import { destinationKey, writeIntentProgress, type IntentRow } from "../../intent/store.ts";
import type { World } from "../../world.ts";
import { insertVerifications } from "../agreement/verificationStore.ts";
import type { Deposit } from "../deposit.ts";
import { depositRecord, type DepositRecord } from "../depositRecord.ts";
import { refreshHoldings, writeHoldings } from "../holding/holdingStore.ts";
import { buildDustEvents, type DustEvents } from "./dustEvents.ts";
import { writeDeposits } from "../store.ts";
import { decideIntent, type DecidedEvent, type Decision } from "./decideIntent.ts";
import type { IntentFacts } from "./facts.ts";
import type { IntentCase } from "./readFacts.ts";

export type DepositWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "catalog" | "log" | "memory">;

type DecidedCase = Decision & { before: IntentRow; facts: IntentFacts };

/** Decides locked intents, and writes the changed deposits, holdings and intents with their events. */
export async function decideIntents(
  tx: Tx,
  world: DepositWorld,
  { cases, at }: { cases: readonly IntentCase[]; at: Date },
): Promise<void> {
  const decided = decideCases(cases);
  await writeDeposits(
    tx,
    decided.flatMap(({ deposits }) => deposits.map(({ after }) => after)),
  );
  const toVerify = decided.flatMap((decision) => decision.toVerify);
  await insertVerifications(tx, { deposits: toVerify, at });
  const holdings = decided.flatMap((decision) => decision.holdings.map(({ after }) => after));
  await writeHoldings(tx, holdings);
  const changed = decided.filter(({ before, after }) => before !== after);
  await writeIntentProgress(
    tx,
    changed.map(({ after }) => after),
  );
  await refreshHoldings(
    tx,
    changed.filter(hasCounted).map(({ after }) => after.id),
  );
  const dustEvents = await buildDustEvents(tx, world, changed);
  const events = changed.flatMap((each) => each.events.flatMap((event) => toEvent(world, each, { event, dustEvents })));
  await appendEvents(tx, world, { events, at });
}

/** One batch may reopen several intents of a destination, and the database does not show the first one yet. */
function decideCases(cases: readonly IntentCase[]): DecidedCase[] {
  const reopened = new Set<string>();
  return cases.map(({ intent: before, facts }) => {
    const isTaken = before.occupies && reopened.has(destinationKey(before));
    const decision = decideIntent(before, isTaken ? facts.withDestinationTaken() : facts);
    const isReopened = before.status === "settled" && decision.after.status === "active";
    if (before.occupies && isReopened) reopened.add(destinationKey(before));
    return { before, facts, ...decision };
  });
}

/** Whether what the inboxes hold must be computed again. Summed dust may release what a sweep left. */
function hasCounted({ before, after, deposits, holdings }: DecidedCase): boolean {
  return (
    before.counted_units !== after.counted_units ||
    deposits.some((change) => change.before?.status === "counted") ||
    holdings.some((change) => change.after.rest_units > 0n)
  );
}

type EventContext = { event: DecidedEvent; dustEvents: DustEvents };

function toEvent(world: DepositWorld, decided: DecidedCase, { event, dustEvents }: EventContext): NewEvent[] {
  const { before, after } = decided;
  const base = {
    type: event.type,
    accountId: after.account_id,
    intentNumber: after.seq,
    livemode: after.livemode,
  };
  if ("deposit" in event) {
    const object = toDepositRecord(world, decided.facts, event.deposit.after);
    const earlier = event.deposit.before && toDepositRecord(world, decided.facts, event.deposit.before);
    return [{ ...base, object, previous: earlier === undefined ? null : changedFields(earlier, object) }];
  }
  if ("holding" in event) {
    const object = dustEvents.get(event.holding);
    return object === undefined ? [] : [{ ...base, object, previous: null }];
  }
  const context = { baseUrl: world.config.baseUrl };
  const object = intentRecord(after, context);
  return [{ ...base, object, previous: changedFields(intentRecord(before, context), object) }];
}

function toDepositRecord(world: DepositWorld, facts: IntentFacts, deposit: Deposit): DepositRecord {
  const symbol = findAsset(world.catalog, deposit.chain, deposit.token)?.symbol ?? deposit.token;
  const headNumber = facts.chains.get(deposit.chain)?.head?.number ?? deposit.block_number;
  return depositRecord(deposit, { symbol, headNumber });
}
