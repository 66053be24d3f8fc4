import { findAccountOfEvent, listLatestEvents, readFeed, type AccountEvent } from "../event/listEvents.ts";
import type { World } from "../world.ts";
import { getAccount } from "./team/getAccount.ts";
import { UsageError } from "./errors.ts";
import { optionalNumbers, optionalText } from "./operation/inputFields.ts";
import { getIntent } from "./intentOperations.ts";
import { limitOf, PAGE_FIELDS, toPage } from "./lists/page.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

export type EventOutput = AccountEvent;
/** Oldest first. */
export type EventPage = {
  events: EventOutput[];
  /** The last sequence of each account; pass it as `after` for the events that follow. */
  after: Record<string, number>;
  /** The `cursor` of the page of earlier events; null at the first event. */
  nextCursor: string | null;
};

type Filter = { accountId: string | undefined; intentId: string | undefined };

/** Events of one step while following. */
const FOLLOWING_MAX = 1_000;

/**
 * Lists the latest events or those before `cursor`, or those after the sequences in `after`. Within one account no
 * sequence is skipped.
 */
export const listEvents = defineOperatorOperation({
  effect: "read",
  input: { accountId: optionalText, intentId: optionalText, after: optionalNumbers, ...PAGE_FIELDS },
  async run(world, { intentId, after, cursor, ...given }): Promise<EventPage> {
    const accountId = await resolveAccount(world, { intentId, accountId: given.accountId });
    // The sequences first: an event between the two reads then appears in both, and none is missing.
    const sequences = await readSequences(world, accountId);
    if (after !== undefined) return listFollowing(world, { intentId }, { sequences, after });
    if (cursor !== undefined) await requireCursor(world, cursor, accountId);
    const limit = limitOf(given);
    const rows = await listLatestEvents(world.db, { accountId, intentId, beforeId: cursor, limit: limit + 1 });
    const { data, nextCursor } = toPage(rows, limit, ({ id }) => id);
    for (const event of data) sequences[event.accountId] = Math.max(sequences[event.accountId] ?? 0, event.sequence);
    return { events: data.toReversed(), after: sequences, nextCursor };
  },
});

async function resolveAccount(world: World, { accountId, intentId }: Filter): Promise<string | undefined> {
  if (intentId !== undefined) return (await getIntent(world, intentId)).account_id;
  return accountId === undefined ? undefined : (await getAccount(world, accountId)).id;
}

async function requireCursor(world: World, cursor: string, accountId: string | undefined): Promise<void> {
  const owner = await findAccountOfEvent(world.db, cursor);
  if (owner === undefined || (accountId ?? owner) !== owner)
    throw new UsageError(`--cursor must be the cursor that the page before ends with, not ${cursor}.`);
}

async function readSequences({ db }: World, accountId: string | undefined): Promise<Record<string, number>> {
  const counters = await db.root
    .selectFrom("event_counter")
    .innerJoin("account", "account.number", "event_counter.account_number")
    .select(["account.id", "event_counter.last_sequence"])
    .$if(accountId !== undefined, (query) => query.where("account.id", "=", accountId ?? ""))
    .limit(FOLLOWING_MAX)
    .execute();
  return Object.fromEntries(counters.map((counter) => [counter.id, Number(counter.last_sequence)]));
}

async function listFollowing(
  world: World,
  { intentId }: Pick<Filter, "intentId">,
  { sequences, after }: { sequences: Record<string, number>; after: ReadonlyMap<string, number> },
): Promise<EventPage> {
  const page: EventPage = { events: [], after: {}, nextCursor: null };
  for (const [accountId, last] of Object.entries(sequences)) {
    const from = after.get(accountId) ?? 0;
    page.after[accountId] = from;
    if (last <= from) continue;
    const query = { accountId, after: BigInt(from), limit: FOLLOWING_MAX, types: undefined, intentId };
    const { events, nextAfter } = await readFeed(world.db, query);
    page.events.push(...events.map((event) => ({ accountId, ...event })));
    page.after[accountId] = Number(nextAfter);
  }
  page.events.sort((one, other) => one.createdAt.localeCompare(other.createdAt) || one.sequence - other.sequence);
  return page;
}
