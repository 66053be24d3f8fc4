import { isPriceReached } from "../intent/paymentStatus.ts";
import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import { findPayoutPath } from "../intent/routes/payoutPath.ts";
import { findWatchedChain } from "../catalog/catalog.ts";
import type { Db } from "../db/database.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../kernel/clock.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import { parseUnits } from "../kernel/units.ts";
import type { World } from "../world.ts";
import { isBudgetFree, takeBudget } from "./budget/budgetStore.ts";
import type { CrossingOfIntent } from "./store.ts";

// Anybody can burn what an inbox holds, down to a thousandth of a dollar, and on a cheap chain for almost nothing.
// Receiving costs the same for every amount. So each settle chain has three queues. The first is received in time:
// crossings of reached prices, and all that are worth more than their mint costs. The second is what is worth less:
// once an hour as much of it as fits one transaction, dearest first. The third is what is below the minimum of its
// intent: one an hour, after the second.

const INTERVAL_MS = 3_600_000;
/** Why a proven burn of the second queue waits. */
export const WORTH_LESS = "worth_less_than_its_mint";

type WorthWorld = Pick<World, "db" | "memory" | "catalog" | "config">;

/** Decimals of the dollar amounts below. */
const USD_DECIMALS = 12;
/** By chain, what the last mint that this process has priced costs, in the smallest unit of the native coin. */
const LAST_FEES: MemorySlot<Map<Caip2, bigint>> = { create: () => new Map() };

/** Remembers what a mint costs now. */
export function noteMintFee({ memory }: Pick<World, "memory">, settleChain: Caip2, fee: bigint): void {
  memory.get(LAST_FEES).set(settleChain, fee);
}

/**
 * Whether a crossing of the first two queues belongs to the second: it is below the minimum, or worth less than its
 * mint costs although its price is not reached. Without a price of the native coin, or a mint's cost, the minimum alone
 * decides.
 */
export async function isWorthLess(world: WorthWorld, each: CrossingOfIntent): Promise<boolean> {
  const { crossing, intent } = each;
  const { chain, token, units, settle_chain: settleChain } = crossing;
  const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, intent);
  const way = findPayoutPath(intent, routes, { chain, token });
  if (way === undefined) return false;
  if (units < way.minimumUnits) return true;
  const { price_token_units: price, underpay_tolerance_bps: toleranceBps, counted_units: counted } = intent;
  if (price !== null && isPriceReached(price, toleranceBps, counted)) return false;
  const costUsd = mintCostUsd(world, settleChain);
  return costUsd !== undefined && units * 10n ** BigInt(USD_DECIMALS) < costUsd * 10n ** BigInt(way.decimals);
}

/** The cost of a mint times the configured multiple, in 10^-12 dollars. The bridged token counts as a dollar. */
function mintCostUsd({ memory, catalog, config }: WorthWorld, settleChain: Caip2): bigint | undefined {
  const fee = memory.get(LAST_FEES).get(settleChain);
  const native = findWatchedChain(catalog, settleChain)?.native;
  const usd = native?.usd === undefined ? undefined : parseUnits(native.usd, USD_DECIMALS);
  if (fee === undefined || native === undefined || usd === undefined) return undefined;
  const multiple = BigInt(config.bridge?.mintCostMultiple ?? 1);
  return (multiple * fee * usd) / 10n ** BigInt(native.decimals);
}

/** Whether a settle chain has its turn of the second and third queue. */
export function isTurnFree(db: Db, settleChain: Caip2, at: Date): Promise<boolean> {
  return isBudgetFree(db, { name: nameOf(settleChain), at, latest: latestAt(at) });
}

/** Takes the turn of this hour. False when another process has. */
export function takeTurn(db: Db, settleChain: Caip2, at: Date): Promise<boolean> {
  return takeBudget(db, { name: nameOf(settleChain), freeAt: addMs(at, INTERVAL_MS), at, latest: latestAt(at) });
}

function nameOf(settleChain: Caip2): string {
  return `small burns ${settleChain}`;
}

/** A time further ahead was stored before a clock stepped back. */
function latestAt(at: Date): Date {
  return addMs(at, INTERVAL_MS + CLOCK_DIFFERENCE_MS_MAX);
}
