import { currentHub } from "@tributary/inbox/hubs";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { zeroBytes32 } from "@tributary/inbox/terms";
import { leavesTo, toRoute, type RouteSet } from "../routes/routeSet.ts";
import type { IntentRow } from "../store.ts";
import { mintAccount } from "./mintAccount.ts";
import type { RecoveryKeys } from "./pinInbox.ts";

/** What an intent pins of its routes and of its inboxes on the other kind of chains. */
export type RoutePins = Pick<IntentRow, "routes_root" | "route_set" | "hop_recovery" | "hop_hub">;

const NO_ROUTES: RoutePins = { routes_root: zeroBytes32, route_set: null, hop_recovery: null, hop_hub: null };

/**
 * For a payout on an EVM chain, whose inbox commits to the routes. Money that a crossing cannot take must be somebody's
 * to recover, so inboxes on Solana need a key there (D42a).
 */
export function pinRoutes(set: RouteSet | undefined, keys: RecoveryKeys): RoutePins {
  if (set === undefined) return NO_ROUTES;
  const hop_recovery = set.hops.length > 0 ? keys.solana_recovery : null;
  return { ...NO_ROUTES, routes_root: set.root, route_set: set.id, hop_recovery };
}

/** For a payout on Solana, whose inbox the routes lead to. Without a recovery key on EVM chains nothing crosses. */
export function pinRoutesTo(
  inbox: Parameters<typeof mintAccount>[0],
  set: RouteSet | undefined,
  keys: RecoveryKeys,
): RoutePins {
  if (set === undefined || keys.recovery === null) return NO_ROUTES;
  const routes_root = computeRoutesRoot(leavesTo(mintAccount(inbox), set).map(toRoute));
  return { routes_root, route_set: set.id, hop_recovery: keys.recovery, hop_hub: currentHub.address };
}
