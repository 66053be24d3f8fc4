import type { Outbound } from "../kernel/outbound/outbound.ts";
import type { World } from "../world.ts";
import { addDeliveries, findOldest, findOldestSequence, listDue, type DueDelivery } from "./deliveryStore.ts";
import {
  leaseEndpoints,
  lockEndpoint,
  renewLeases,
  updateEndpoint,
  type EndpointLease,
} from "./endpoint/endpointStore.ts";
import { recordTries, type FinishedTry } from "./recordTries.ts";
import { tryDelivery } from "./tryDelivery.ts";

export type DeliverWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "log" | "wake"> & { outbound: Outbound };

/** Endpoints that one process delivers to at once: those whose last try failed have a share of their own. */
const HEALTHY_MAX = 64;
const FAILING_MAX = 64;
/** Endpoints whose requests take long occupy no place of the others. They cost a connection and a timer each. */
const SLOW_MAX = 448;
const SLOW_MS = 1_000;
/** Of one account, in all processes. */
const ACCOUNT_MAX = 8;
/** Requests at once to one endpoint, and to one whose last try failed. */
const REQUESTS_MAX = 16;
const FAILING_REQUESTS_MAX = 2;
/** After this long an endpoint goes back into the queue, so that the others have their turn. */
const SLICE_MS = 5_000;
/** How often a running delivery looks for further events that are due, and where the last try failed. */
const LOOK_MS = 50;
const FAILING_LOOK_MS = 1_000;
const SHUTDOWN_MS = 2_000;
/** How often the leases of running deliveries are renewed: some renewals may fail before a lease ends. */
const RENEW_MS = 2_000;

/**
 * Delivers to endpoints for as long as each has due events. A lease keeps other processes away; its token keeps a
 * process whose lease has ended from writing.
 */
export class WebhookDeliverer {
  readonly #world: DeliverWorld;
  readonly #running = {
    healthy: new Set<Promise<void>>(),
    failing: new Set<Promise<void>>(),
    slow: new Set<Promise<void>>(),
  };

  readonly #leases = new Set<EndpointLease>();
  #renewedAtMs = 0;

  constructor(world: DeliverWorld) {
    this.#world = world;
  }

  /**
   * Renews the leases of running deliveries when it is time, then starts the delivery to endpoints that wait, within the
   * limits. Returns whether more may wait.
   */
  async start(ending: AbortSignal): Promise<boolean> {
    await this.#renew();
    const isMore = [
      await this.#lease(this.#running.healthy, { isFailing: false, max: HEALTHY_MAX, ending }),
      await this.#lease(this.#running.failing, { isFailing: true, max: FAILING_MAX, ending }),
    ];
    return isMore.includes(true);
  }

  /** The endpoints that are delivered to now. */
  get runningCount(): number {
    return this.#running.healthy.size + this.#running.failing.size + this.#running.slow.size;
  }

  /** Resolves when every delivery has ended. */
  async drain(): Promise<void> {
    const { healthy, failing, slow } = this.#running;
    await Promise.all([...healthy, ...failing, ...slow]);
  }

  async #renew(): Promise<void> {
    const { clock, db } = this.#world;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#renewedAtMs < RENEW_MS) return;
    this.#renewedAtMs = nowMs;
    if (this.#leases.size > 0) await renewLeases(db, { leases: [...this.#leases], at: clock.now() });
  }

  async #lease(
    running: Set<Promise<void>>,
    { isFailing, max, ending }: { isFailing: boolean; max: number; ending: AbortSignal },
  ): Promise<boolean> {
    const limit = max - running.size;
    if (limit <= 0) return false;
    const at = this.#world.clock.now();
    const request = { at, isFailing, limit, accountMax: ACCOUNT_MAX };
    const leases = await leaseEndpoints(this.#world.db, request);
    for (const lease of leases) {
      const onSlow = () => {
        if (this.#running.slow.size >= SLOW_MAX || !running.delete(task)) return;
        this.#running.slow.add(task);
        this.#world.wake.notify("webhooks");
      };
      const task = deliverEndpoint(this.#world, lease, { ending, onSlow })
        .catch((error: unknown) => {
          this.#world.log.warn({ err: error, endpoint: lease.endpoint.id }, "delivering webhooks failed, retrying");
        })
        .finally(() => {
          this.#leases.delete(lease);
          running.delete(task);
          this.#running.slow.delete(task);
          this.#world.wake.notify("webhooks");
        });
      running.add(task);
      this.#leases.add(lease);
    }
    return leases.length === limit;
  }
}

/** `onSlow` is called when the endpoint has answered nothing for a while. */
type Running = { ending: AbortSignal; onSlow: () => void };

/** Delivers what is due at one endpoint, for one slice of time. */
async function deliverEndpoint(world: DeliverWorld, lease: EndpointLease, { ending, onSlow }: Running): Promise<void> {
  const { endpoint } = lease;
  if (endpoint.status === "disabled") return healEndpoint(world, lease);
  const startedAt = world.clock.now();
  const requests = new Map<bigint, Promise<void>>();
  const finished: FinishedTry[] = [];
  let current = endpoint;
  let answeredMs = world.clock.monotonicMs();
  const isSlow = () => world.clock.monotonicMs() - answeredMs >= SLOW_MS;
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
    if (isSlow()) onSlow();
    const lookMs = current.failing_since === null && !isSlow() ? LOOK_MS : FAILING_LOOK_MS;
    if (finished.length === 0) await Promise.race([...requests.values(), world.clock.sleep(lookMs, ending)]);
    if (ending.aborted && requests.size > 0) await abandon(world, requests);
    if (finished.length > 0) {
      answeredMs = world.clock.monotonicMs();
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

/** Events that one try of an endpoint that failures disabled may read to find one that it wants. */
const HEAL_ROUNDS_MAX = 20;
const HEAL_EVENTS_MAX = 500;

/**
 * The oldest event may have been given up: then it is pending again. Where no event of the feed waits, because only
 * replays and tests had failed, the next one of the feed is the one to try.
 */
async function reopenOldest(
  { db, clock }: DeliverWorld,
  { endpoint: { number }, token }: EndpointLease,
): Promise<void> {
  await db.transaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, number);
    if (endpoint === undefined || endpoint.lease_token !== token) return;
    const undelivered = endpoint.undelivered_sequence;
    if (undelivered === null && (await findOldestSequence(tx, number)) !== null) return;
    let fanned = undelivered === null ? endpoint.fanned_sequence : undelivered - 1n;
    for (let round = 0; round < HEAL_ROUNDS_MAX; round += 1) {
      const from = { ...endpoint, fanned_sequence: fanned };
      const limit = undelivered === null ? HEAL_EVENTS_MAX : 1;
      const { lastSequence, added } = await addDeliveries(tx, { endpoint: from, at: clock.now(), limit });
      fanned = lastSequence ?? fanned;
      if (undelivered !== null || lastSequence === null || added > 0) break;
    }
    if (endpoint.fanned_sequence < fanned) await updateEndpoint(tx, number, { fanned_sequence: fanned });
  });
}
