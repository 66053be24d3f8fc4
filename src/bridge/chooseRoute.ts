import { findWatchedChain } from "../catalog/catalog.ts";
import type { PinnedRoute } from "../intent/routes/routeSet.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { World } from "../world.ts";
import { findFees, type FeesWorld } from "./fees.ts";

type ChooseWorld = FeesWorld & Pick<World, "config">;

/** A chain whose blocks are final sooner needs no fast crossing. */
const FAST_FROM_MS = 60_000;

/**
 * The pinned route that a burn of an asset takes now: fast where that saves time, and where the bridge's present fee is
 * within the configured limit and the pinned cap; otherwise standard. Undefined without routes. Throws
 * BridgeUnavailable when the fees are to be asked for soon.
 */
export async function chooseRoute(
  world: ChooseWorld,
  routes: readonly PinnedRoute[],
  settleChain: Caip2,
): Promise<PinnedRoute | undefined> {
  const [fast, standard] = (["fast", "standard"] as const).map((speed) => routes.find((each) => each.speed === speed));
  if (fast === undefined || standard === undefined) return fast ?? standard;
  const fees = await findFees(world, { chain: fast.chain, settleChain });
  if (fees === undefined) return standard;
  const { fastPpm, standardPpm } = fees;
  const canFast = fastPpm !== undefined && fastPpm <= fast.feePpmMax;
  const canStandard = standardPpm === undefined || standardPpm <= standard.feePpmMax;
  if (!canStandard && canFast) return fast;
  const limitPpm = world.config.bridge?.fastFeePpmMax ?? 0;
  const { finalizedMs } = findWatchedChain(world.catalog, fast.chain)?.estimates ?? {};
  const isSlow = finalizedMs === undefined || finalizedMs >= FAST_FROM_MS;
  return isSlow && canFast && fastPpm <= limitPpm ? fast : standard;
}
