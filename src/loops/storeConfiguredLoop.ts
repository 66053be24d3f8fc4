import { saveServedTokens } from "../catalog/store.ts";
import { storeRouteSets } from "../intent/routes/ensureRouteSets.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

const INTERVAL_MS = 600_000;

/** Stores again what a start stores, because a database that lost commits under a running service lacks it. */
export function storeConfiguredLoop(world: World): Loop {
  return {
    name: "configured tokens and routes",
    topic: "configured",
    intervalMs: INTERVAL_MS,
    tick: async () => {
      await saveServedTokens(world.db, world.catalog, world.clock.now());
      await storeRouteSets(world);
      return false;
    },
  };
}
