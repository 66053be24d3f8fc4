import { convertUnits } from "../kernel/units.ts";
import type { Asset } from "./catalog.ts";

/** D49: the smallest deposit of an origin that crosses to a rail alone, in the origin's smallest units. */
export function crossingMinimum(
  origin: Pick<Asset, "minimumUnits" | "decimals">,
  rail: Pick<Asset, "crossingMinimumUnits" | "decimals">,
): bigint {
  const shift = 10n ** BigInt(Math.max(rail.decimals - origin.decimals, 0));
  // Rounded up: a smaller deposit would be below the rail's own.
  const units = convertUnits(rail.crossingMinimumUnits + shift - 1n, rail.decimals, origin.decimals);
  return units > origin.minimumUnits ? units : origin.minimumUnits;
}
