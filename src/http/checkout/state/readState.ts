import { findIssuableRoutes } from "../../../inbox/issuableRoutes.ts";
import { loadIssuingPredicate } from "../../../inbox/originSwitch.ts";
import { findRoutes } from "../../../intent/routes/findRoutes.ts";
import type { IntentRow } from "../../../intent/store.ts";
import { readScannerHealth } from "../../../watch/scannerHealth.ts";
import type { Caip2 } from "../../../kernel/caip.ts";
import type { World } from "../../../world.ts";
import type { CheckoutOrigins, CheckoutState } from "@tributary/checkout/checkoutState";
import { buildOrigins } from "./buildOrigins.ts";
import { buildState } from "./buildState.ts";
import { readStateRows } from "./stateRows.ts";

type StateWorld = Pick<World, "db" | "clock" | "catalog" | "config" | "memory">;

/** The state of one payment; undefined for an unknown id. */
export async function readState(world: StateWorld, intentId: string): Promise<CheckoutState | undefined> {
  return (await readStates(world, [intentId]))[0]?.state;
}

/** A state, and the chains whose next blocks change it. */
export type ReadState = { state: CheckoutState; pendingChains: ReadonlySet<Caip2> };

/**
 * The states of payments, in one statement, and one more for routes that this process has not read yet. Unknown ids are
 * left out.
 */
export async function readStates(world: StateWorld, intentIds: readonly string[]): Promise<ReadState[]> {
  const rows = await readStateRows(world.db, intentIds);
  const { catalog, config, db, memory } = world;
  const now = world.clock.now();
  const routesOf = await findRoutes(
    { db: db.root, memory },
    rows.map(({ intent }) => intent),
  );
  return rows.map((row) => ({
    state: buildState(row, { catalog, config, now, routes: routesOf.get(row.intent.id) ?? [] }),
    pendingChains: new Set(row.transfers.filter(({ status }) => status === "seen").map(({ chain }) => chain)),
  }));
}

/** What an intent can be paid with now. */
export async function readOrigins(
  world: Pick<World, "db" | "clock" | "catalog" | "gate" | "memory" | "bridge">,
  intent: IntentRow,
): Promise<CheckoutOrigins> {
  const health = new Map<string, boolean>(await readScannerHealth(world));
  const isEnabled = await loadIssuingPredicate(world);
  const routes = await findIssuableRoutes(world, intent);
  const conditions = { isEnabled, isHealthy: (chain: string) => health.get(chain) === true, routes };
  return buildOrigins(world.catalog, intent, conditions);
}
