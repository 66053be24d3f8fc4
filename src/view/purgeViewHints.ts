import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { deleteExpiredHints } from "./store.ts";

/** An expired hint has no use. The margin is for processes whose clocks differ. */
const MARGIN_MS = 3_600_000;

/** Deletes up to `limit` expired hints, and returns their number. */
export async function purgeViewHints({ db, clock }: Pick<World, "db" | "clock">, limit: number): Promise<number> {
  return deleteExpiredHints(db, { before: addMs(clock.now(), -MARGIN_MS), limit });
}
