import type { World } from "../world.ts";
import { createRateLimiters, type RateLimiters } from "./rate/rateLimiters.ts";

/** The world and the rate limiters, which the checks share. */
export type HttpContext = RateLimiters & { readonly world: World };

export function createHttpContext(world: World): HttpContext {
  return { ...createRateLimiters(world), world };
}
