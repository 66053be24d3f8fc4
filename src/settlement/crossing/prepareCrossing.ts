import type { Chain } from "../../chain/chain.ts";
import {
  PayerRefused,
  SettleRefused,
  type BurnItem,
  type BurnWay,
  type PreparedSettlement,
} from "../../chain/sender.ts";
import { chooseRoute } from "../../bridge/chooseRoute.ts";
import { notePayer } from "../../bridge/refusedPayers.ts";
import { findIntentRoutes } from "../../intent/routes/findRoutes.ts";
import { proofOf, routesFrom, toRoute, type PinnedRoute } from "../../intent/routes/routeSet.ts";
import { toItemOn } from "../../intent/pins/hopInbox.ts";
import { payoutChain } from "../../intent/payoutAsset.ts";
import type { World } from "../../world.ts";
import type { DueSettlement } from "../store.ts";

type CrossingWorld = Pick<World, "db" | "clock" | "entropy" | "log" | "catalog" | "memory" | "config" | "bridge">;

/** Whether a bridge carries the settlement's money to its payout. */
export function isCrossing({ settlement, intent }: DueSettlement): boolean {
  return settlement.chain !== payoutChain(intent);
}

/**
 * Prices the transaction that gives the inbox's balance to a bridge; undefined while the fees exceed the ceiling.
 * Throws SettleRefused, with a reason for the record, when no route can take it now.
 */
export async function prepareCrossing(
  world: CrossingWorld,
  chain: Chain,
  due: DueSettlement,
): Promise<PreparedSettlement | undefined> {
  const { bridge } = chain.sender;
  if (bridge === undefined) throw new SettleRefused("bridge_missing");
  const { intent, settlement } = due;
  const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, intent);
  const route = await chooseRoute(world, routesFrom(routes, settlement), payoutChain(intent));
  if (route === undefined) throw new SettleRefused("no_route");
  const item: BurnItem = { ...toItemOn(intent, routes, settlement), way: toWay(routes, route) };
  const refusal = await bridge.burnRefusal(item);
  if (refusal !== undefined) throw new SettleRefused(refusal);
  try {
    const prepared = await bridge.prepareBurn(world, item);
    notePayer(world, chain.caip2, undefined);
    return prepared;
  } catch (error) {
    if (error instanceof PayerRefused)
      notePayer(world, chain.caip2, { payer: chain.sender.payer, reason: error.message });
    throw error;
  }
}

function toWay(routes: readonly PinnedRoute[], route: PinnedRoute): BurnWay {
  if (route.kind === "leaf") return { kind: "leaf", route: toRoute(route), routeProof: proofOf(routes, route) };
  return { kind: "hop", route: route.speed === "fast" ? 0 : 1 };
}
