import { addMs, DAY_MS } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { deleteClosedAccounts } from "./store.ts";

/** Longer than any limit counts them. */
const KEPT_MS = 7 * DAY_MS;

/** Deletes up to `limit` rows of accounts that were closed long ago, and returns their number. */
export async function purgePrimedAccounts({ db, clock }: Pick<World, "db" | "clock">, limit: number): Promise<number> {
  return deleteClosedAccounts(db, { before: addMs(clock.now(), -KEPT_MS), limit });
}
