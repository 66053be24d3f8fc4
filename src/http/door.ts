import type { World } from "../world.ts";
import { openLimits, type Limits } from "./rate/limits.ts";

/** What the checks share beside the world: how often somebody has called. */
export type Door = Limits & { readonly world: World };

export function openDoor(world: World): Door {
  return { ...openLimits(world), world };
}
