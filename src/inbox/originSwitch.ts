import type { Asset } from "../catalog/catalog.ts";
import { hasTokenProblem } from "../chain/tokenProblems.ts";
import type { World } from "../world.ts";
import { listOriginSwitches, writeOriginSwitch } from "./store.ts";

/**
 * Loads the predicate that decides whether an origin issues source inboxes now. It requires the configuration, the
 * operator's switch, a token that is as configured and, for a remote gate, a configured gate. Each call reads the
 * switches, so a change applies to every process from its next call.
 */
export async function loadIssuingPredicate(
  world: Pick<World, "db" | "gate" | "memory">,
): Promise<(origin: Asset) => boolean> {
  const switches = await listOriginSwitches(world.db);
  const disabled = new Set(switches.filter(({ isEnabled }) => !isEnabled).map(assetKey));
  return (origin) =>
    origin.isIssuing &&
    (origin.gate === "local" || world.gate !== undefined) &&
    !disabled.has(assetKey(origin)) &&
    !hasTokenProblem(world, origin);
}

/** Switches an origin on or off for new source inboxes. Issued inboxes stay valid, and their deposits still count. */
export async function setOriginEnabled(
  world: Pick<World, "db" | "clock">,
  { origin, isEnabled }: { origin: Asset; isEnabled: boolean },
): Promise<void> {
  await writeOriginSwitch(world.db, { chain: origin.chain, token: origin.token, isEnabled, at: world.clock.now() });
}

function assetKey({ chain, token }: { chain: string; token: string }): string {
  return `${chain} ${token}`;
}
