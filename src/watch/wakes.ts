import type { Chain } from "../chain/chain.ts";
import type { World } from "../world.ts";
import { perChain } from "./perChain.ts";

// The topics by which this station's readings wake each other, and the later stations.

type Named = Pick<Chain, "caip2">;

/** Wakes the poll of the chain. */
export function watchTopic({ caip2 }: Named): string {
  return `watch:${caip2}`;
}

/** Wakes the head follower. */
export function headsTopic({ caip2 }: Named): string {
  return `heads:${caip2}`;
}

/** Wakes the comparison of what payers look at. */
export function viewedAccountsTopic({ caip2 }: Named): string {
  return `viewed accounts:${caip2}`;
}

/** Whether payers are looking at inboxes whose balances show deposits. */
export const viewing = perChain(() => ({ isViewed: false }));

/** Wakes the deposit and settlement stations after a change of movements. */
export function wakeMovementConsumers({ wake }: Pick<World, "wake">, chain: Named): void {
  wakeBlockConsumers({ wake }, chain);
  wake.notify(`settlements:${chain.caip2}`);
}

/** Wakes what waits for confirmations, after a block or finality without a change of movements. */
export function wakeBlockConsumers({ wake }: Pick<World, "wake">, chain: Named): void {
  wake.notify(`deposits:${chain.caip2}`);
}
