import type { Caip2 } from "../kernel/caip.ts";
import { hasElapsed } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { listCursors } from "./store/store.ts";

const STALE_MS_MIN = 30_000;
const STALE_POLLS = 20;

/**
 * Whether a chain's scanner works. The cursor's time is updated with every block and every few seconds in between. An
 * old time means unreachable providers or no running scanner. A chain that was never polled is unhealthy.
 */
export function isScannerHealthy(updatedAt: Date | undefined, facts: { now: Date; pollMs: number }): boolean {
  if (updatedAt === undefined) return false;
  return !hasElapsed(Math.max(STALE_MS_MIN, STALE_POLLS * facts.pollMs), { since: updatedAt, now: facts.now });
}

/** The health of every configured chain's scanner, in any process. One query. */
export async function readScannerHealth(
  world: Pick<World, "db" | "clock" | "catalog">,
): Promise<ReadonlyMap<Caip2, boolean>> {
  const cursors = await listCursors(world.db);
  const updatedAt = new Map(cursors.map((cursor) => [cursor.chain, cursor.updated_at]));
  const now = world.clock.now();
  return new Map(
    world.catalog.chains.map(({ caip2, pollMs }) => [caip2, isScannerHealthy(updatedAt.get(caip2), { now, pollMs })]),
  );
}
