import type { Db, Tx } from "../../db/database.ts";
import { assert } from "../../kernel/assert.ts";
import type { MemorySlot, ProcessMemory } from "../../kernel/processMemory.ts";
import type { IntentRow } from "../store.ts";
import { mintAccount, type MintAccountKey } from "../pins/mintAccount.ts";
import { fromStoredRouteSet, leavesTo, type PinnedRoute, type RouteSet } from "./routeSet.ts";
import { selectRouteSets } from "./routeSetStore.ts";

/** Route sets by id. The oldest leave first; a set never changes. */
const KNOWN_SETS: MemorySlot<Map<string, RouteSet>> = { create: () => new Map() };
const KNOWN_SETS_MAX = 1_000;
const NO_ROUTES: readonly PinnedRoute[] = [];

type IntentRoutesKey = Pick<IntentRow, "id" | "route_set" | "hop_recovery"> & MintAccountKey;

/**
 * The pinned routes of each intent by its id: leaves in the order of their root, then hops. An empty list without
 * routes.
 */
export async function findRoutes(
  { db, memory }: { db: Db["root"] | Tx; memory: ProcessMemory },
  intents: readonly IntentRoutesKey[],
): Promise<ReadonlyMap<string, readonly PinnedRoute[]>> {
  const ids = new Set(intents.flatMap(({ route_set }) => route_set ?? []));
  const known = memory.get(KNOWN_SETS);
  const found = new Map([...ids].flatMap((id) => (known.has(id) ? [[id, known.get(id)] as const] : [])));
  const missing = [...ids].filter((id) => !found.has(id));
  const rows = missing.length === 0 ? [] : await selectRouteSets(db, missing);
  for (const set of rows.map(fromStoredRouteSet)) {
    found.set(set.id, set);
    known.set(set.id, set);
  }
  for (const id of [...known.keys()].slice(0, Math.max(known.size - KNOWN_SETS_MAX, 0))) known.delete(id);
  return new Map(
    intents.map((intent) => {
      const { id, route_set } = intent;
      if (route_set === null) return [id, NO_ROUTES] as const;
      const set = found.get(route_set);
      assert(set, `the route set ${route_set} of intent ${id} does not exist`);
      return [id, routesOf(intent, set)] as const;
    }),
  );
}

function routesOf(intent: IntentRoutesKey, set: RouteSet): readonly PinnedRoute[] {
  if (intent.payout_namespace === "solana") return leavesTo(mintAccount(intent), set);
  return intent.hop_recovery === null ? set.routes : [...set.routes, ...set.hops];
}

/** The pinned routes of one intent. */
export async function findIntentRoutes(
  reader: { db: Db["root"] | Tx; memory: ProcessMemory },
  intent: IntentRoutesKey,
): Promise<readonly PinnedRoute[]> {
  if (intent.route_set === null) return NO_ROUTES;
  const set = reader.memory.get(KNOWN_SETS).get(intent.route_set);
  if (set !== undefined) return routesOf(intent, set);
  return (await findRoutes(reader, [intent])).get(intent.id) ?? NO_ROUTES;
}
