import { isBelowMinimum } from "../deposit/dust/dust.ts";
import type { Db } from "../db/database.ts";
import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import { findPayoutWay } from "../intent/routes/payoutWay.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../kernel/clock.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { World } from "../world.ts";
import { isBudgetFree, takeBudget, type CrossingOfIntent } from "./store.ts";

// Anybody can burn what an inbox holds, down to a thousandth of a dollar, and on a cheap chain for almost nothing. Receiving costs the same for
// every amount. So each settle chain receives one burn below the minimum of its intent an hour, and all of them in time.

const INTERVAL_MS = 3_600_000;
/** Why a proven burn waits. */
export const BELOW_MINIMUM = "below_minimum";

/** Whether the burn is below the minimum of its intent and does not reach its price alone, as dust. */
export async function isSmallBurn(
  { db, memory }: Pick<World, "db" | "memory">,
  { crossing, intent }: CrossingOfIntent,
): Promise<boolean> {
  const { chain, token, units } = crossing;
  const way = findPayoutWay(intent, await findIntentRoutes({ db: db.root, memory }, intent), { chain, token });
  return way !== undefined && isBelowMinimum(intent, { amount_units: units }, { way, tokenDecimals: way.decimals });
}

/** Whether a settle chain may receive a small burn now. */
export function mayReceiveSmall(db: Db, settleChain: Caip2, at: Date): Promise<boolean> {
  return isBudgetFree(db, { name: nameOf(settleChain), at, latest: latestAt(at) });
}

/** Takes the turn of this hour. False when another one has. */
export function takeSmallTurn(db: Db, settleChain: Caip2, at: Date): Promise<boolean> {
  return takeBudget(db, { name: nameOf(settleChain), freeAt: addMs(at, INTERVAL_MS), at, latest: latestAt(at) });
}

function nameOf(settleChain: Caip2): string {
  return `small burns ${settleChain}`;
}

/** A time further ahead was stored before a clock stepped back. */
function latestAt(at: Date): Date {
  return addMs(at, INTERVAL_MS + CLOCK_DIFFERENCE_MS_MAX);
}
