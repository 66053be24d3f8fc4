import { SettleRefused, type PreparedTransaction, type SettleItem } from "../chain/sender.ts";
import { toItemOn } from "../intent/pins/hopInbox.ts";
import { findRoutes } from "../intent/routes/findRoutes.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { LOOK_MS } from "./primedAccount.ts";
import { changeLocked, changeUnlocked, lockInState, type DueAccount } from "./store.ts";

export type PrimingWorld = Pick<World, "db" | "clock" | "log" | "memory">;

/** What one transaction does to the accounts of a batch. */
export type BatchWork = {
  prepare(items: readonly SettleItem[]): Promise<PreparedTransaction | undefined>;
  /** What the chain would refuse, whatever else is in the batch. */
  refuse(refused: DueAccount, reason: string): Promise<void>;
  readonly from: "planned" | "open";
  readonly to: "submitted" | "closing";
};

/** Before the next attempt while something else has to change first. */
const WAIT_MS = 10_000;

/** The inboxes of accounts as the chain's sender takes them. */
export async function toItems(world: PrimingWorld, accounts: readonly DueAccount[]): Promise<SettleItem[]> {
  const intents = accounts.map(({ intent }) => intent);
  const routesOf = await findRoutes({ db: world.db.root, memory: world.memory }, intents);
  return accounts.map(({ intent, row }) => toItemOn(intent, routesOf.get(intent.id) ?? [], row));
}

/**
 * Stores a signed transaction for the batch. Where the chain would refuse it, the accounts are tried one by one, so
 * that one refusal stops no other. Returns how many accounts have a transaction now.
 */
export async function submitBatch(world: PrimingWorld, batch: readonly DueAccount[], work: BatchWork): Promise<number> {
  try {
    const prepared = await work.prepare(await toItems(world, batch));
    if (prepared !== undefined) return await storeTransaction(world, batch, { ...work, prepared });
    await postpone(world, batch);
    return 0;
  } catch (error) {
    if (!(error instanceof SettleRefused)) throw error;
    const [only, ...others] = batch;
    if (only !== undefined && others.length === 0) await work.refuse(only, error.message);
    if (others.length === 0) return 0;
    let submitted = 0;
    for (const each of batch) submitted += await submitBatch(world, [each], work);
    return submitted;
  }
}

/** Keeps rows in their state until the next attempt. */
export async function postpone(world: PrimingWorld, waiting: readonly DueAccount[]): Promise<void> {
  const retryAt = addMs(world.clock.now(), WAIT_MS);
  for (const { row } of waiting) await changeUnlocked(world.db, row, { retry_at: retryAt });
}

/** Stores nothing when another process has changed one of the rows. */
async function storeTransaction(
  world: PrimingWorld,
  batch: readonly DueAccount[],
  { prepared, from, to }: Pick<BatchWork, "from" | "to"> & { prepared: PreparedTransaction },
): Promise<number> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const ids = batch.map(({ row }) => row.id);
    const current = await lockInState(tx, ids, from);
    if (current.length !== batch.length) return 0;
    const outgoingId = await prepared.store(tx, at);
    await changeLocked(tx, ids, { status: to, outgoing_id: outgoingId, reason: null, retry_at: addMs(at, LOOK_MS) });
    return batch.length;
  });
}
