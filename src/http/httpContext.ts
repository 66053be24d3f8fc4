import type { World } from "../world.ts";
import { createRateLimiters, type RateLimiters } from "./rate/rateLimiters.ts";

/** What the checks share beside the world: how often somebody has called. */
export type HttpContext = RateLimiters & { readonly world: World };

export function createHttpContext(world: World): HttpContext {
  return { ...createRateLimiters(world), world };
}
