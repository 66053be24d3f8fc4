import type { Db } from "../db/database.ts";
import type { World } from "../world.ts";
import { isLeased, keepTurn, nextTurn } from "./delivery.ts";
import { addDeliveries, findNextDue } from "./deliveryStore.ts";
import { listBehind, lockEndpoint, markBehind, updateEndpoint } from "./endpoint/endpointStore.ts";
import { readCursor, writeCursor } from "./cursorStore.ts";

type FanOutWorld = Pick<World, "db" | "clock" | "wake" | "memory">;

/** Accounts with new events that one step looks at. */
const ACCOUNTS_MAX = 500;
const ENDPOINTS_MAX = 100;
/** Events that one step gives an endpoint, so that a long backlog of one delays no other. */
const EVENTS_MAX = 500;

/** The endpoint after which this process goes on, so that each has its turn. */
const position = { create: () => ({ after: 0 }) };

/**
 * Gives each endpoint the deliveries of new events. Sequences are assigned after commit and in order, so an endpoint
 * that has passed one has seen all lower ones.
 */
export async function fanOut(world: FanOutWorld): Promise<{ isDone: boolean }> {
  let isDone = await markChanged(world.db);
  const round = world.memory.get(position);
  const isFirstPage = round.after === 0;
  const numbers = await listBehind(world.db, { after: round.after, limit: ENDPOINTS_MAX });
  const isLastPage = numbers.length < ENDPOINTS_MAX;
  round.after = isLastPage ? 0 : (numbers.at(-1) ?? 0);
  for (const number of numbers) if (!(await fanOutEndpoint(world, number))) isDone = false;
  return { isDone: isDone && isFirstPage && isLastPage };
}

async function markChanged(db: Db): Promise<boolean> {
  return db.transaction(async (tx) => {
    const afterRevision = await readCursor(tx);
    const last = await markBehind(tx, { afterRevision, limit: ACCOUNTS_MAX });
    if (last === undefined) return true;
    await writeCursor(tx, last);
    return false;
  });
}

/** Returns whether the endpoint has every event of its account that is numbered. */
async function fanOutEndpoint({ db, clock, wake }: FanOutWorld, number: number): Promise<boolean> {
  const at = clock.now();
  const result = await db.transaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, number);
    if (endpoint === undefined) return { isDone: true, added: 0 };
    if (endpoint.status === "disabled") {
      await updateEndpoint(tx, number, { is_behind: false });
      return { isDone: true, added: 0 };
    }
    const { lastSequence, read, added } = await addDeliveries(tx, { endpoint, at, limit: EVENTS_MAX });
    const isDone = read < EVENTS_MAX;
    await updateEndpoint(tx, number, {
      is_behind: !isDone,
      fanned_sequence: lastSequence ?? endpoint.fanned_sequence,
      // The process that holds the lease reads the deliveries again before it ends. Without one, all events of a
      // backlog have their deliveries before the first is sent.
      ...(isLeased(endpoint, at) || !isDone
        ? {}
        : keepTurn(endpoint, nextTurn(await findNextDue(tx, { endpointNumber: number, at }), at))),
    });
    return { isDone, added };
  });
  if (result.added > 0) wake.notify("webhooks");
  return result.isDone;
}
