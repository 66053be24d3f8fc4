import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { clearKeyCache } from "./keys/keyCache.ts";
import { updateAccountStatus, type AccountRow } from "./store.ts";

/**
 * Suspends an account, or lets it go on: while it is suspended its keys are answered with account_suspended, here from the next request
 * on and in other processes within a second. Payments on their way are counted and settled as ever. Throws not_found.
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
