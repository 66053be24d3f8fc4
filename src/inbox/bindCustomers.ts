import { findAsset, type Asset } from "../catalog/catalog.ts";
import { listIntentsWithoutCustomer, updateCustomerBound, type IntentRow } from "../intent/store.ts";
import { addMs } from "../kernel/clock.ts";
import { payoutChain } from "../intent/payoutAsset.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { requestBinding } from "./gateRequests.ts";

type BindWorld = Pick<World, "db" | "clock" | "catalog" | "gate" | "log">;

const BATCH_MAX = 50;
/** Intents older than this are not retried in rounds; the next source inbox request binds their customer. */
const BIND_RETRY_PERIOD_MS = 24 * 3_600_000;

/** Marks an intent's customer as bound; a bound customer stays bound. */
export async function markCustomerBound(world: Pick<World, "db" | "clock">, intentId: string): Promise<void> {
  await updateCustomerBound(world.db, { intentId, at: world.clock.now() });
}

/**
 * Requests the binding of unbound customers of active intents from the gate, one batch after `afterSeq`. Returns the
 * next `afterSeq`, 0 after the last batch. The next round retries a refused or pending customer. Throws
 * source_inbox_unavailable.
 */
export async function bindCustomers(world: BindWorld, afterSeq: bigint): Promise<bigint> {
  const createdAfter = addMs(world.clock.now(), -BIND_RETRY_PERIOD_MS);
  const intents = await listIntentsWithoutCustomer(world.db, { afterSeq, createdAfter, limit: BATCH_MAX });
  for (const intent of intents) {
    const origin = findPayoutOrigin(world, intent);
    if (origin !== undefined && (await tryBind(world, intent, origin))) await markCustomerBound(world, intent.id);
  }
  return intents.length < BATCH_MAX ? 0n : (intents.at(-1)?.seq ?? 0n);
}

async function tryBind(world: BindWorld, intent: IntentRow, origin: Asset): Promise<boolean> {
  try {
    await requestBinding(world, { intent, origin });
    return true;
  } catch (error) {
    const isVerdict = error instanceof Fault && error.code !== "source_inbox_unavailable";
    if (!isVerdict) throw error;
    if (error.code === "source_inbox_refused")
      world.log.warn({ err: error.cause }, "the issuing gate refused a customer");
    return false;
  }
}

/** The intent's payout asset; undefined when the catalogue no longer lists it, so that no payer can use it. */
function findPayoutOrigin(world: BindWorld, intent: IntentRow): Asset | undefined {
  return findAsset(world.catalog, payoutChain(intent), intent.payout_token);
}
