import type { Catalog } from "../../catalog/catalog.ts";
import { routesTo } from "../../catalog/routes.ts";
import type { MemorySlot } from "../../kernel/processMemory.ts";
import type { World } from "../../world.ts";
import { buildRouteSet, toStoredRouteSet, type RouteSet } from "./routeSet.ts";
import { insertRouteSet } from "./routeSetStore.ts";

/** The sets of a catalogue by rail id. A catalogue never changes. */
const STORED_SETS: MemorySlot<WeakMap<Catalog, ReadonlyMap<string, RouteSet>>> = { create: () => new WeakMap() };

/**
 * Stores the route set of every rail, and returns them by rail id; a rail without routes has none. Later calls of the
 * process read nothing from the database, so a transaction may follow the first one.
 */
export async function ensureRouteSets(
  world: Pick<World, "db" | "clock" | "memory" | "catalog">,
): Promise<ReadonlyMap<string, RouteSet>> {
  const { db, clock, memory, catalog } = world;
  const stored = memory.get(STORED_SETS).get(catalog);
  if (stored !== undefined) return stored;
  const sets = new Map<string, RouteSet>();
  for (const rail of catalog.assets.filter(({ isRail }) => isRail)) {
    const set = buildRouteSet(routesTo(catalog, rail));
    if (set !== undefined) sets.set(rail.railId, set);
  }
  for (const set of sets.values()) await insertRouteSet(db, toStoredRouteSet(set), clock.now());
  memory.get(STORED_SETS).set(catalog, sets);
  return sets;
}
