import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { clearKeyCache } from "./keys/keyCache.ts";
import { updateAccountStatus, type AccountRow } from "./store.ts";

/**
 * Suspends an account or reactivates it. Keys of a suspended account get account_suspended: at once in this process,
 * within a second in others. Payments that are under way are still counted and settled. Throws not_found.
 */
export async function setAccountStatus(
  world: Pick<World, "db" | "memory">,
  change: { accountId: string; status: AccountRow["status"] },
): Promise<AccountRow> {
  const account = await updateAccountStatus(world.db, change);
  clearKeyCache(world);
  if (account === undefined) throw new Fault("not_found", { message: "No such account." });
  return account;
}
