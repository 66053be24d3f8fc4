import { addMs } from "../kernel/clock.ts";
import type { Outbound } from "../kernel/outbound/outbound.ts";
import type { World } from "../world.ts";
import { addDeliveries, findOldest, listDue, type DueDelivery } from "./deliveryStore.ts";
import { leaseEndpoints, lockEndpoint, updateEndpoint, type EndpointLease } from "./endpoint/endpointStore.ts";
import { recordTries, type FinishedTry } from "./recordTries.ts";
import { tryDelivery } from "./tryDelivery.ts";

export type DeliverWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "log" | "wake"> & { outbound: Outbound };

/** Endpoints that one process delivers to at once: those whose last try failed have a share of their own. */
const HEALTHY_MAX = 64;
const FAILING_MAX = 64;
/** Of one account, in all processes. */
const ACCOUNT_MAX = 8;
/** Requests at once to one endpoint, and to one whose last try failed. */
const REQUESTS_MAX = 16;
const FAILING_REQUESTS_MAX = 2;
/** After this long an endpoint goes back into the queue, so that the others have their turn. */
const SLICE_MS = 5_000;
/** Longer than a slice and the longest request together. */
const LEASE_MS = 60_000;
/** How often a running delivery looks for further events that are due, and where the last try failed. */
const LOOK_MS = 50;
const FAILING_LOOK_MS = 1_000;
const SHUTDOWN_MS = 2_000;

/**
 * Delivers to endpoints for as long as each has due events. A lease keeps other processes away; its token keeps a
 * process whose lease has ended from writing.
 */
export class WebhookDeliverer {
  readonly #world: DeliverWorld;
  readonly #running = { healthy: new Set<Promise<void>>(), failing: new Set<Promise<void>>() };

  constructor(world: DeliverWorld) {
    this.#world = world;
  }

  /** Starts the delivery to endpoints that wait, within the limits. Returns whether more may wait. */
  async start(ending: AbortSignal): Promise<boolean> {
    const isMore = [
      await this.#lease(this.#running.healthy, { isFailing: false, max: HEALTHY_MAX, ending }),
      await this.#lease(this.#running.failing, { isFailing: true, max: FAILING_MAX, ending }),
    ];
    return isMore.includes(true);
  }

  /** The endpoints that are delivered to now. */
  get runningCount(): number {
    return this.#running.healthy.size + this.#running.failing.size;
  }

  /** Resolves when every delivery has ended. */
  async drain(): Promise<void> {
    await Promise.all([...this.#running.healthy, ...this.#running.failing]);
  }

  async #lease(
    running: Set<Promise<void>>,
    { isFailing, max, ending }: { isFailing: boolean; max: number; ending: AbortSignal },
  ): Promise<boolean> {
    const limit = max - running.size;
    if (limit <= 0) return false;
    const at = this.#world.clock.now();
    const request = { at, until: addMs(at, LEASE_MS), isFailing, limit, accountMax: ACCOUNT_MAX };
    const leases = await leaseEndpoints(this.#world.db, request);
    for (const lease of leases) {
      const task = deliverEndpoint(this.#world, lease, ending)
        .catch((error: unknown) => {
          this.#world.log.warn({ err: error, endpoint: lease.endpoint.id }, "delivering webhooks failed, retrying");
        })
        .finally(() => {
          running.delete(task);
          this.#world.wake.notify("webhooks");
        });
      running.add(task);
    }
    return leases.length === limit;
  }
}

/** Delivers what is due at one endpoint, for one slice of time. */
async function deliverEndpoint(world: DeliverWorld, lease: EndpointLease, ending: AbortSignal): Promise<void> {
  const { endpoint } = lease;
  if (endpoint.status === "disabled") return healEndpoint(world, lease);
  const startedAt = world.clock.now();
  const requests = new Map<bigint, Promise<void>>();
  const finished: FinishedTry[] = [];
  let current = endpoint;
  const isOver = () => ending.aborted || world.clock.now().getTime() - startedAt.getTime() >= SLICE_MS;
  for (;;) {
    const max = current.failing_since === null ? REQUESTS_MAX : FAILING_REQUESTS_MAX;
    const isOpen = current.status === "enabled" && !isOver() && requests.size < max;
    const unwritten = finished.map(({ delivery }) => delivery.number);
    const except = [...requests.keys(), ...unwritten];
    const due = isOpen ? await readDue(world, { endpoint, except, limit: max - requests.size }) : [];
    for (const delivery of due) {
      const request = tryDelivery(world, { endpoint: current, delivery }).then((result) => {
        finished.push({ delivery, result });
        requests.delete(delivery.number);
      });
      requests.set(delivery.number, request);
    }
    if (requests.size === 0 && finished.length === 0) break;
    const lookMs = current.failing_since === null ? LOOK_MS : FAILING_LOOK_MS;
    if (finished.length === 0) await Promise.race([...requests.values(), world.clock.sleep(lookMs, ending)]);
    if (ending.aborted && requests.size > 0) await abandon(world, requests);
    if (finished.length > 0) {
      const after = await recordTries(world, { lease, finished: finished.splice(0), isLast: false });
      if (after === undefined) return;
      current = after;
    }
    if (ending.aborted) break;
  }
  await recordTries(world, { lease, finished: finished.splice(0), isLast: true });
}

/** `except`: the deliveries whose results are not written yet. */
type Reading = { endpoint: EndpointLease["endpoint"]; except: readonly bigint[]; limit: number };

function readDue(world: DeliverWorld, { endpoint, except, limit }: Reading): Promise<DueDelivery[]> {
  return listDue(world.db, { endpointNumber: endpoint.number, at: world.clock.now(), limit, except });
}

/** What has not been answered soon after the shutdown began is tried again by another process. */
async function abandon(world: DeliverWorld, requests: ReadonlyMap<bigint, Promise<void>>): Promise<void> {
  await Promise.race([
    Promise.all(requests.values()),
    world.clock.sleep(SHUTDOWN_MS, AbortSignal.timeout(SHUTDOWN_MS)),
  ]);
}

/** Tries the oldest undelivered event of an endpoint that failures disabled. A success enables it again. */
async function healEndpoint(world: DeliverWorld, lease: EndpointLease): Promise<void> {
  const { endpoint } = lease;
  await reopenOldest(world, lease);
  const delivery = await findOldest(world.db, endpoint.number);
  const finished =
    delivery === undefined ? [] : [{ delivery, result: await tryDelivery(world, { endpoint, delivery }) }];
  await recordTries(world, { lease, finished, isLast: true });
}

/** The oldest event may have been given up: then it is pending again. */
async function reopenOldest(
  { db, clock }: DeliverWorld,
  { endpoint: { number }, token }: EndpointLease,
): Promise<void> {
  await db.transaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, number);
    const undelivered = endpoint?.undelivered_sequence ?? null;
    if (endpoint === undefined || endpoint.lease_token !== token || undelivered === null) return;
    const rewound = { ...endpoint, fanned_sequence: undelivered - 1n };
    await addDeliveries(tx, { endpoint: rewound, at: clock.now(), limit: 1 });
    if (endpoint.fanned_sequence < undelivered) await updateEndpoint(tx, number, { fanned_sequence: undelivered });
  });
}
