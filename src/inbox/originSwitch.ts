import type { Asset } from "../catalog/catalog.ts";
import type { World } from "../world.ts";
import { listOriginSwitches, writeOriginSwitch } from "./store.ts";

/**
 * Whether source inboxes are issued for an origin now: the configuration, the operator's switch and the presence of a gate, where one is
 * needed, must all agree. The switches are read each time, so that turning one holds in every process from the next call on.
 */
export async function loadIssuingPredicate(world: Pick<World, "db" | "gate">): Promise<(origin: Asset) => boolean> {
  const switches = await listOriginSwitches(world.db);
  const disabled = new Set(switches.filter(({ isEnabled }) => !isEnabled).map(assetKey));
  return (origin) =>
    origin.isIssuing && (origin.gate === "local" || world.gate !== undefined) && !disabled.has(assetKey(origin));
}

/** Turns an origin on or off for new source inboxes. What was issued stays, and what is paid there is counted as ever. */
export async function setOriginEnabled(
  world: Pick<World, "db" | "clock">,
  { origin, isEnabled }: { origin: Asset; isEnabled: boolean },
): Promise<void> {
  await writeOriginSwitch(world.db, { chain: origin.chain, token: origin.token, isEnabled, at: world.clock.now() });
}

function assetKey({ chain, token }: { chain: string; token: string }): string {
  return `${chain} ${token}`;
}
