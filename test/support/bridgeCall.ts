import assert from "node:assert/strict";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { encodeFunctionData } from "viem";
import type { RouteSpeed } from "../../src/catalog/routes.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { findIntentRoutes } from "../../src/intent/routes/findRoutes.ts";
import { leavesOf, proofOf, routesFrom, toRoute } from "../../src/intent/routes/routeSet.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { BridgedRoad } from "./bridgedRoad.ts";
import type { TestChain } from "./chain.ts";
import type { InnerCall } from "./oneTransaction.ts";

/** The hub's call by which anybody bridges an inbox of a chain, by its route of this speed, or by its first one. */
export async function bridgeCall(
  { db, world }: BridgedRoad,
  { caip2, hub, usdc }: TestChain,
  { intent, speed }: { intent: IntentRow; speed?: RouteSpeed },
): Promise<InnerCall> {
  const routes = await findIntentRoutes({ db: db.root, memory: world.memory }, intent);
  const route = routesFrom(leavesOf(routes), { chain: caip2, token: usdc.address }).find(
    (each) => speed === undefined || each.speed === speed,
  );
  assert.ok(route);
  const args = [toInboxTerms(intent), toRoute(route), proofOf(routes, route), "0x"] as const;
  return { to: hub, data: encodeFunctionData({ abi: hubAbi, functionName: "bridge", args }) };
}
