import { listEvents as listAccountEvents, type EventRecord } from "../event/listEvents.ts";
import type { World } from "../world.ts";
import { readAccountFilter } from "./accountOperations.ts";
import { getField, optionalNumber, optionalText } from "./inputFields.ts";
import { getIntent } from "./intentOperations.ts";

export type EventOutput = EventRecord & { accountId: string };
export type EventPage = {
  events: EventOutput[];
  /** The last sequence of each account; pass it as `after` for the next page. */
  after: Record<string, number>;
};

const LIST_DEFAULT = 20;
const LIST_MAX = 1_000;

/** Lists the latest events, or those after the sequences in `after`, oldest first. Within one account no sequence is skipped. */
export async function listEvents(world: World, input: unknown): Promise<EventPage> {
  const limit = optionalNumber(input, "limit", { min: 1, max: LIST_MAX }) ?? LIST_DEFAULT;
  const intentId = optionalText(input, "intentId");
  const accountId =
    intentId === undefined ? await readAccountFilter(world, input) : (await getIntent(world, intentId)).account_id;
  const counters = await world.db.root
    .selectFrom("event_counter")
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
    .limit(LIST_MAX)
    .execute();
  const after = getField(input, "after");
  const isFollowing = after !== undefined && after !== null;
  const page: EventPage = { events: [], after: {} };
  for (const { account_id, last_sequence } of counters) {
    const from = optionalNumber(after, account_id, { min: 0, max: Number.MAX_SAFE_INTEGER });
    // One intent's events may be anywhere in its account, so they are read from the beginning.
    const latest = intentId === undefined && !isFollowing ? Math.max(Number(last_sequence) - limit, 0) : 0;
    const events = await listAccountEvents(world.db, {
      accountId: account_id,
      afterSequence: BigInt(from ?? latest),
      limit: intentId === undefined ? limit : LIST_MAX,
      ...(intentId === undefined ? {} : { intentId }),
    });
    page.events.push(...events.map((event) => ({ accountId: account_id, ...event })));
    page.after[account_id] = events.at(-1)?.sequence ?? from ?? Number(last_sequence);
  }
  page.events.sort((one, other) => one.createdAt.localeCompare(other.createdAt) || one.sequence - other.sequence);
  if (!isFollowing) page.events = page.events.slice(-limit);
  return page;
}
