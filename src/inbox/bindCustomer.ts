import { findAsset, type Asset } from "../catalog/catalog.ts";
import { listUnbound, writeCustomerBound, type IntentRow } from "../intent/store.ts";
import { addMs } from "../kernel/clock.ts";
import { payoutChain } from "../intent/payout.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { askForBinding } from "./askGate.ts";

type BindWorld = Pick<World, "db" | "clock" | "catalog" | "gate" | "log">;

const BATCH_MAX = 50;
/** The gate is asked again and again for so long; a later source inbox asks by itself. */
const ASKED_FOR_MS = 24 * 3_600_000;

/** Notes that an intent's customer is bound; it never becomes unbound again. */
export async function bindCustomer(world: Pick<World, "db" | "clock">, intentId: string): Promise<void> {
  await writeCustomerBound(world.db, { intentId, at: world.clock.now() });
}

/**
 * Asks the gate for the customers of active intents that it has not bound yet, one batch beyond `afterSeq`, and returns where the next one
 * begins: 0 after the last. A gate that refuses or hesitates is asked again in the next round. Throws source_inbox_unavailable.
 */
export async function bindCustomers(world: BindWorld, afterSeq: bigint): Promise<bigint> {
  const createdAfter = addMs(world.clock.now(), -ASKED_FOR_MS);
  const intents = await listUnbound(world.db, { afterSeq, createdAfter, limit: BATCH_MAX });
  for (const intent of intents) {
    const origin = originOf(world, intent);
    if (origin !== undefined && (await isBound(world, intent, origin))) await bindCustomer(world, intent.id);
  }
  return intents.length < BATCH_MAX ? 0n : (intents.at(-1)?.seq ?? 0n);
}

async function isBound(world: BindWorld, intent: IntentRow, origin: Asset): Promise<boolean> {
  try {
    await askForBinding(world, { intent, origin });
    return true;
  } catch (error) {
    const isVerdict = error instanceof Fault && error.code !== "source_inbox_unavailable";
    if (!isVerdict) throw error;
    if (error.code === "source_inbox_refused") world.log.warn({ err: error.cause }, "a customer was refused");
    return false;
  }
}

/** Undefined when the token has left the catalogue; nobody can be asked to pay in it then. */
function originOf(world: BindWorld, intent: IntentRow): Asset | undefined {
  return findAsset(world.catalog, payoutChain(intent), intent.payout_token);
}
