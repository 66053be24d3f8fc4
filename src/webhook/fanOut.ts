import type { Db } from "../db/database.ts";
import type { World } from "../world.ts";
import { addDeliveries, findNextDue } from "./deliveryStore.ts";
import type { WebhookEndpoint } from "./endpoint/endpoint.ts";
import { listBehind, lockEndpoint, markBehind, updateEndpoint } from "./endpoint/endpointStore.ts";
import { readCursor, writeCursor } from "./cursorStore.ts";

type FanOutWorld = Pick<World, "db" | "clock" | "wake">;

/** Accounts with new events that one step looks at. */
const ACCOUNTS_MAX = 500;
const ENDPOINTS_MAX = 100;
/** Events that one step gives an endpoint, so that a long backlog of one delays no other. */
const EVENTS_MAX = 500;

/**
 * Gives each endpoint the deliveries of new events. Sequences are assigned after commit and in order, so an endpoint
 * that has passed one has seen all lower ones.
 */
export async function fanOut(world: FanOutWorld): Promise<{ isDone: boolean }> {
  const isMarked = await markChanged(world.db);
  let isDone = isMarked;
  for (const number of await listBehind(world.db, { after: 0, limit: ENDPOINTS_MAX }))
    if (!(await fanOutEndpoint(world, number))) isDone = false;
  return { isDone };
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

function isLeased({ leased_until: until }: WebhookEndpoint, at: Date): boolean {
  return until !== null && until > at;
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
      ...(isLeased(endpoint, at) || !isDone ? {} : { due_at: await findNextDue(tx, number) }),
    });
    return { isDone, added };
  });
  if (result.added > 0) wake.notify("webhooks");
  return result.isDone;
}
