import type { Catalog } from "../../catalog/catalog.ts";
import { hopsTo } from "../../catalog/hops.ts";
import { routesTo } from "../../catalog/routes.ts";
import { Fault } from "../../kernel/faults.ts";
import type { MemorySlot } from "../../kernel/processMemory.ts";
import type { World } from "../../world.ts";
import { buildRouteSet, toStoredRouteSet, type RouteSet } from "./routeSet.ts";
import { insertRouteSet, selectRouteSets } from "./routeSetStore.ts";

type RouteSetWorld = Pick<World, "db" | "clock" | "memory" | "catalog">;

/** The sets of a catalogue by rail id. A catalogue never changes. */
const STORED_SETS: MemorySlot<WeakMap<Catalog, ReadonlyMap<string, RouteSet>>> = { create: () => new WeakMap() };

/**
 * Stores the route set of every rail, and returns them by rail id; a rail without routes has none. Later calls of the
 * process read nothing from the database, so a transaction may follow the first one.
 */
export async function ensureRouteSets(world: RouteSetWorld): Promise<ReadonlyMap<string, RouteSet>> {
  const stored = world.memory.get(STORED_SETS).get(world.catalog);
  return stored ?? storeRouteSets(world);
}

/** Stores the route set of every rail, whatever was stored before: a database that was restored may have lost them. */
export async function storeRouteSets(world: RouteSetWorld): Promise<ReadonlyMap<string, RouteSet>> {
  const { db, clock, memory, catalog } = world;
  const sets = new Map<string, RouteSet>();
  for (const rail of catalog.assets.filter(({ isRail }) => isRail)) {
    const set = buildRouteSet(routesTo(catalog, rail), hopsTo(catalog, rail));
    if (set !== undefined) sets.set(rail.railId, set);
  }
  for (const set of sets.values()) await insertRouteSet(db, toStoredRouteSet(set), clock.now());
  memory.get(STORED_SETS).set(catalog, sets);
  return sets;
}

/**
 * Runs a create. When it fails and the database has lost the route sets, which a lossy failover may do, stores them
 * again and runs it once more.
 */
export async function withStoredRouteSets<T>(world: RouteSetWorld, create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (error instanceof Fault || !(await areSetsLost(world))) throw error;
    await storeRouteSets(world);
    return create();
  }
}

async function areSetsLost({ db, memory, catalog }: RouteSetWorld): Promise<boolean> {
  const ids = new Set([...(memory.get(STORED_SETS).get(catalog)?.values() ?? [])].map(({ id }) => id));
  return ids.size > 0 && (await selectRouteSets(db.root, [...ids])).length < ids.size;
}
