import type { Arrivals } from "./searchArrivals.ts";
import type { FoundBurn } from "./searchBurns.ts";

/** A burn, and whether its money arrived. */
export type TrackedBurn = FoundBurn & {
  /** Unknown: the payout's chain was not read, or not all of it. */
  readonly state: "open" | "received" | "unknown";
};

/**
 * Compares burns with what arrived. Each arrival ends one burn. `arrivals` is undefined where the payout's chain was
 * not read.
 */
export function matchBurns(burns: readonly FoundBurn[], arrivals: Arrivals | undefined): TrackedBurn[] {
  const left = [...(arrivals?.arrivals ?? [])];
  return burns.map((burn) => {
    const index = left.findIndex(
      ({ depositor, recipient, units, sourceDomain }) =>
        depositor === burn.depositor &&
        recipient === burn.recipient &&
        units === burn.units &&
        // An inbox has one address on all chains.
        (burn.sourceDomain === undefined || sourceDomain === burn.sourceDomain),
    );
    if (index !== -1) left.splice(index, 1);
    const state = index !== -1 ? "received" : arrivals?.isComplete === true ? "open" : "unknown";
    return { ...burn, state };
  });
}
